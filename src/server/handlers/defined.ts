type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> }

/** Without the keys whose value is undefined: to the rooms below absent is absent. */
export function defined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Defined<T>
}
