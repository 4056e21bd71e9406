// Which packages lean on which: a package is named before those that need it, and a circle of them is a Problem.
import { fieldPath } from '../lib/located-json.ts'
import type { Problem } from '../lib/problem.ts'
import type { OverlayConfig } from '../resources/overlay-config.ts'
import { byName } from './names.ts'

/** Every package after the ones it leans on; packages of a circle in no useful order. */
export function packageOrder(config: OverlayConfig): string[] {
  return walk(config).order
}

export function packageCycles(config: OverlayConfig): Problem[] {
  return walk(config).cycles.map(cycle => ({
    code: 'package.cycle',
    path: `${fieldPath('packageByNames', cycle[0]!)}.packages`,
    reason: `packages lean on each other in a circle: ${cycle.join(' → ')}`,
  }))
}

function walk({ packageByNames = {} }: OverlayConfig): { order: string[]; cycles: string[][] } {
  const order: string[] = []
  const cycles: string[][] = []
  const done = new Set<string>()
  const visit = (name: string, way: readonly string[]) => {
    if (way.includes(name)) return void cycles.push([...way.slice(way.indexOf(name)), name])
    if (done.has(name)) return
    done.add(name)
    for (const needed of packageByNames[name]?.packages ?? [])
      if (Object.hasOwn(packageByNames, needed)) visit(needed, [...way, name])
    order.push(name)
  }
  for (const name of Object.keys(packageByNames).sort(byName)) visit(name, [])
  return { order, cycles }
}
