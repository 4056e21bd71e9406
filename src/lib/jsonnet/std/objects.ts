// std: objects.
import { type ObjectValue, plainObject } from '../object.ts'
import { isArray, isObject, Thunk, type Value } from '../value.ts'
import { type Call, type Natives, sizeOf } from './define.ts'

export const objects: Natives = {
  'get(o, f, default=, inc_hidden=)': call => {
    const [object, name] = [call.object(0), call.string(1)]
    const there = call.boolean(3, true) ? object.has(name) : object.isVisible(name)
    if (there) return object.get(name, call.machine)!
    return call.has(2) ? call.value(2) : null
  },
  'objectHas(o, f)': call => call.object(0).isVisible(call.string(1)),
  'objectHasAll(o, f)': call => call.object(0).has(call.string(1)),
  'objectHasEx(obj, fname, hidden)': call => {
    const [object, name] = [call.object(0), call.string(1)]
    return call.boolean(2) ? object.has(name) : object.isVisible(name)
  },
  'objectFields(o)': call => call.object(0).names('visible'),
  'objectFieldsAll(o)': call => call.object(0).names('with hidden'),
  'objectFieldsEx(obj, hidden)': call => call.object(0).names(call.boolean(1) ? 'with hidden' : 'visible'),
  'objectValues(o)': call =>
    call
      .object(0)
      .names('visible')
      .map(name => field(call, call.object(0), name)),
  'objectValuesAll(o)': call =>
    call
      .object(0)
      .names('with hidden')
      .map(name => field(call, call.object(0), name)),
  'objectKeysValues(o)': call => pairs(call, call.object(0).names('visible')),
  'objectKeysValuesAll(o)': call => pairs(call, call.object(0).names('with hidden')),
  'objectRemoveKey(obj, key)': call => {
    const [object, key] = [call.object(0), call.string(1)]
    return chosen(
      call,
      object,
      object.names('visible').filter(name => name !== key),
    )
  },
  'mapWithKey(func, obj)': call => {
    const [change, object] = [call.function(0), call.object(1)]
    return plainObject(
      object.names('visible').map(name => [name, () => call.apply(change, name, field(call, object, name))]),
    )
  },
  'mergePatch(target, patch)': call => mergePatch(call, call.value(0), call.value(1)),
  'prune(a)': call => prune(call, call.value(0)),
}

const field = (call: Call, object: ObjectValue, name: string) => new Thunk(() => object.get(name, call.machine)!, null)

function pairs(call: Call, names: readonly string[]): Value {
  const object = call.object(0)
  return names.map(name =>
    plainObject([
      ['key', () => name],
      ['value', () => object.get(name, call.machine)!],
    ]),
  )
}

function chosen(call: Call, object: ObjectValue, names: readonly string[]): ObjectValue {
  return plainObject(names.map(name => [name, () => object.get(name, call.machine)!]))
}

/** RFC 7396: null takes a field away, objects are merged, everything else is replaced. */
function mergePatch(call: Call, target: Value, patch: Value): Value {
  if (!isObject(patch)) return patch
  const base = isObject(target) ? target : null
  const kept = (base?.names('visible') ?? []).filter(name => !patch.isVisible(name))
  const patched = patch.names('visible').filter(name => patch.get(name, call.machine) !== null)
  return plainObject([
    ...kept.map(name => [name, () => base!.get(name, call.machine)!] as const),
    ...patched.map(name => {
      const under = () => (base?.isVisible(name) ? base.get(name, call.machine)! : null)
      return [name, () => mergePatch(call, under(), patch.get(name, call.machine)!)] as const
    }),
  ])
}

/** Without null, and without arrays and objects that are empty or become so. */
function prune(call: Call, value: Value): Value {
  const isContent = (item: Value) => item !== null && (typeof item !== 'object' || sizeOf(item) !== 0)
  if (isArray(value)) {
    call.machine.enter(null)
    const pruned = value.map(item => prune(call, call.force(item))).filter(isContent)
    call.machine.leave()
    return pruned
  }
  if (!isObject(value)) return value
  call.machine.enter(null)
  const fields = value.names('visible').map(name => [name, prune(call, value.get(name, call.machine)!)] as const)
  call.machine.leave()
  return plainObject(fields.filter(([, item]) => isContent(item)).map(([name, item]) => [name, () => item]))
}
