// Brings the machines up in the order of every rollout: all are prepared before the first is activated.
import type { DemoMachine } from './homelab.ts'
import { type RunningMachine, startMachine } from './machine.ts'
import type { MachineView } from './screen.ts'

/** The lab as it runs. */
export interface RunningLab {
  readonly views: readonly MachineView[]
  end(): Promise<void>
}

export async function bringUp(
  machines: readonly DemoMachine[],
  { directory, onChange }: { directory: string; onChange: (views: readonly MachineView[]) => void },
): Promise<RunningLab> {
  const views: MachineView[] = machines.map(({ name, urls }) => ({ name, url: urls[0]?.origin ?? '', step: 'waiting' }))
  const running: RunningMachine[] = []
  const end = async () => {
    await Promise.all(running.map(machine => machine.end()))
  }
  const update = (index: number, change: Partial<MachineView>) => {
    views[index] = { ...views[index]!, ...change }
    onChange(views)
  }
  try {
    for (const machine of machines) running.push(await startMachine(machine, directory))
    await onAll(running, async (machine, index) => {
      update(index, { step: 'preparing' })
      update(index, { step: 'prepared', prepared: await machine.prepare() })
    })
    await onAll(running, async (machine, index) => {
      update(index, { step: 'switching' })
      update(index, { step: 'done', activated: await machine.activate() })
    })
    return { views, end }
  } catch (error) {
    await end()
    throw error
  }
}

/** At once, and to the end: nobody is left at work on a machine that is about to go. */
async function onAll<T>(items: readonly T[], work: (item: T, index: number) => Promise<void>) {
  const results = await Promise.allSettled(items.map(work))
  for (const result of results) if (result.status === 'rejected') throw result.reason
}
