// As many ConfigMaps to a real API server, in a namespace of their own that is deleted afterwards. Only where KUBECONFIG leads to one.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runOnce, runUnmeasured } from '../lib/command.ts'
import { printMs } from '../lib/report.ts'
import type { SeriesResult } from '../lib/rounds.ts'
import type { Tool } from '../lib/tool.ts'
import { seriesOf } from './names.ts'

const namespace = 'cairn-bench'

export async function measureKubectl(
  kubectl: Tool,
  { counts, directory }: { readonly counts: readonly number[]; readonly directory: string },
): Promise<SeriesResult> {
  const absent = absence(kubectl)
  if (absent || !kubectl.path) return seriesWith([`Not measured: ${absent}.`])
  const program = kubectl.path
  const remarks: string[] = []
  runUnmeasured({ program, args: ['create', 'namespace', namespace] })
  try {
    for (const count of counts) {
      const file = join(directory, `config-maps-${count}.json`)
      writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: configMaps(count) }))
      const apply = { program, args: ['apply', '--namespace', namespace, '-f', file] }
      const first = await runOnce(apply)
      const again = await runOnce(apply)
      remarks.push(
        `kubectl apply of ${count.toLocaleString('en')} ConfigMaps: ${printMs(first.ms)} at first, ${printMs(again.ms)} without a change.`,
      )
      runUnmeasured({ program, args: ['delete', '--namespace', namespace, '-f', file] })
    }
  } finally {
    runUnmeasured({ program, args: ['delete', 'namespace', namespace] })
  }
  return seriesWith(remarks)
}

/** Why it cannot be measured; null when it can. */
function absence({ path }: Tool): string | null {
  if (!path) return 'kubectl is not installed'
  if (!process.env.KUBECONFIG) return 'KUBECONFIG names no API server'
  const { status } = spawnSync(path, ['get', '--raw', '/readyz', '--request-timeout', '5s'])
  return status === 0 ? null : 'no API server answers where KUBECONFIG leads'
}

const configMaps = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `machine-${index}` },
    data: { description: `Rack ${index}`, tags: 'edge, row-1', motd: `Welcome to machine ${index}.` },
  }))

const seriesWith = (remarks: readonly string[]): SeriesResult => ({
  series: seriesOf.kubectl,
  files: 0,
  steps: [],
  remarks,
})
