// What a plan warns of although it does what was asked.
import type { Warning } from '../../lib/problem.ts'
import { byName, type UnitName } from '../names.ts'
import { wordsOf } from './effective.ts'
import { policyOf } from './policy.ts'
import { networkStop, typeWide } from './problems.ts'
import type { Units } from './tree.ts'
import { typeOf } from './unit-name.ts'
import { changeOf, isHere, type View } from './view.ts'

const networkServices =
  /^(systemd-networkd|NetworkManager|networking|network|dhcpcd|connman|wicked|netplan|wpa_supplicant(@.*)?|iwd)\.service$/

/** Network units, new or changed, that would be down between the old /etc and the new one. */
export function networkWarnings(view: View, candidates: Iterable<UnitName>): Warning[] {
  return [...candidates]
    .filter(name => changeOf(view, name).is !== 'none')
    .filter(name => isNetworkUnit(view.new, name) && policyOf(view.new.effective(name)).onChange === 'stop-start')
    .map(networkStop)
}

function isNetworkUnit(units: Units, name: UnitName): boolean {
  if (typeOf(name) !== 'service' || !isHere(units, name)) return false
  return networkServices.test(name) || wordsOf(units.effective(name), 'Unit', 'Before').includes('network.target')
}

/** Drop-ins for a whole type also reach units that are not ours; those are not restarted for it. */
export function typeWideWarnings({ old, new: wanted }: View): Warning[] {
  const types = new Set([...old.typeWide.keys(), ...wanted.typeWide.keys()])
  return [...types].sort(byName).flatMap(type => {
    const [was, is] = [old.typeWide.get(type), wanted.typeWide.get(type)]
    const files = [...new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])])].sort(byName)
    const changed = files.filter(file => JSON.stringify(was?.get(file)) !== JSON.stringify(is?.get(file)))
    return changed.length ? [typeWide(type, changed)] : []
  })
}
