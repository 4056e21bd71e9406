// Objects: layers of fields, the last one on top. `a + b` is the layers of both; self is always the whole.
// A field is computed once per layer and object, when it is first asked for.
import type { Visibility } from './ast.ts'
import type { Site } from './failure.ts'
import type { Machine } from './machine.ts'
import { compareText } from './text.ts'
import { type Code, type Frame, noFrame, type Value } from './value.ts'

export interface Field {
  readonly visibility: Visibility
  /** Runs in the frame of its layer. */
  readonly body: Code
  readonly site: Site | null
}

export interface Layer {
  readonly fields: ReadonlyMap<string, Field>
  /** Run in the frame of the layer; they fail or return. */
  readonly asserts: readonly Code[]
  /** The scope of fields and asserts: where the object was written, with self, super and its locals. */
  readonly open: (self: ObjectValue, layer: number) => Frame
}

interface Found {
  readonly layer: number
  readonly visible: boolean
}

export class ObjectValue {
  #layers: readonly Layer[] | null
  /** Until the layers are needed; a long sum costs nothing on its way. */
  #sum: readonly [ObjectValue, ObjectValue] | null
  #found: Map<string, Found> | null = null
  #frames: Frame[] = []
  #values: Map<string, Value>[] = []
  #visible: readonly string[] | null = null
  #asserted = false

  private constructor(layers: readonly Layer[] | null, sum: readonly [ObjectValue, ObjectValue] | null) {
    this.#layers = layers
    this.#sum = sum
  }

  static of(layer: Layer): ObjectValue {
    return new ObjectValue([layer], null)
  }

  plus(right: ObjectValue): ObjectValue {
    return new ObjectValue(null, [this, right])
  }

  has(name: string): boolean {
    return this.#index().has(name)
  }

  isVisible(name: string): boolean {
    return this.#index().get(name)?.visible === true
  }

  /** In the order of code points. */
  names(hidden: 'with hidden' | 'visible'): readonly string[] {
    if (hidden === 'with hidden') return [...this.#index().keys()].sort(compareText)
    this.#visible ??= [...this.#index()]
      .filter(([, { visible }]) => visible)
      .map(([name]) => name)
      .sort(compareText)
    return this.#visible
  }

  /** Undefined when there is no such field. */
  get(name: string, machine: Machine): Value | undefined {
    this.check()
    const found = this.#index().get(name)
    return found && this.#evaluate(found.layer, name, machine)
  }

  hasBelow(layer: number, name: string): boolean {
    return this.#layerBelow(layer, name) !== -1
  }

  getBelow(layer: number, name: string, machine: Machine): Value | undefined {
    const found = this.#layerBelow(layer, name)
    return found === -1 ? undefined : this.#evaluate(found, name, machine)
  }

  /** Runs the asserts of all layers, once; what they ask of the object themselves is answered. */
  check() {
    if (this.#asserted) return
    this.#asserted = true
    for (const [layer, { asserts }] of this.#flat().entries()) for (const assert of asserts) assert(this.#frame(layer))
  }

  #evaluate(layer: number, name: string, machine: Machine): Value {
    this.#values[layer] ??= new Map()
    const values = this.#values[layer]
    const known = values.get(name)
    if (known !== undefined) return known
    const { body, site } = this.#flat()[layer]!.fields.get(name)!
    machine.enter(site)
    const value = body(this.#frame(layer))
    machine.leave()
    values.set(name, value)
    return value
  }

  #frame(layer: number): Frame {
    this.#frames[layer] ??= this.#flat()[layer]!.open(this, layer)
    return this.#frames[layer]
  }

  #layerBelow(layer: number, name: string): number {
    const layers = this.#flat()
    for (let i = layer - 1; i >= 0; i--) if (layers[i]!.fields.has(name)) return i
    return -1
  }

  #index(): Map<string, Found> {
    if (this.#found) return this.#found
    const found = new Map<string, Found>()
    for (const [layer, { fields }] of this.#flat().entries())
      for (const [name, { visibility }] of fields) {
        const visible = visibility === 'inherited' ? (found.get(name)?.visible ?? true) : visibility === 'visible'
        found.set(name, { layer, visible })
      }
    this.#found = found
    return found
  }

  #flat(): readonly Layer[] {
    if (this.#layers) return this.#layers
    const layers: Layer[] = []
    const todo: ObjectValue[] = [this]
    for (let object = todo.pop(); object; object = todo.pop())
      if (object.#layers) for (const layer of object.#layers) layers.push(layer)
      else todo.push(object.#sum![1], object.#sum![0])
    this.#layers = layers
    this.#sum = null
    return layers
  }
}

/** An object of values that are there already, as the standard library makes them. */
export function plainObject(entries: Iterable<readonly [string, Code]>): ObjectValue {
  const fields = new Map<string, Field>()
  for (const [name, body] of entries) fields.set(name, { visibility: 'inherited', body, site: null })
  return ObjectValue.of({ fields, asserts: [], open: () => noFrame })
}
