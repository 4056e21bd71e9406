import { describe, expect, it } from 'vitest'
import { sharing } from './shared.ts'

const forever = new AbortController().signal

describe('sharing', () => {
  it('makes a value once for all who ask at the same time, and again for a later one', async () => {
    const shared = sharing<number>()
    let made = 0
    const make = async () => ++made
    const leases = await Promise.all([1, 2, 3].map(() => shared.acquire('a', forever, make)))
    expect(leases.map(lease => [lease.value, lease.first])).toEqual([
      [1, true],
      [1, false],
      [1, false],
    ])
    expect((await shared.acquire('b', forever, make)).value).toBe(2)
    for (const lease of leases) lease.release()
    expect((await shared.acquire('a', forever, make)).value).toBe(3)
  })

  it('disposes of the value after the last has released it, once', async () => {
    const disposed: string[] = []
    const shared = sharing<string>(value => disposed.push(value))
    const one = await shared.acquire('a', forever, async () => 'value')
    const two = await shared.acquire('a', forever, async () => 'other')
    one.release()
    one.release()
    expect(disposed).toEqual([])
    two.release()
    expect(disposed).toEqual(['value'])
  })

  it('tells all who wait when the making fails, and starts anew for the next', async () => {
    const shared = sharing<number>()
    const fail = async () => {
      throw new Error('broken')
    }
    const results = await Promise.allSettled([shared.acquire('a', forever, fail), shared.acquire('a', forever, fail)])
    expect(results.map(result => result.status)).toEqual(['rejected', 'rejected'])
    expect((await shared.acquire('a', forever, async () => 1)).value).toBe(1)
  })

  it('aborts the making only when nobody waits for it any more, and has ended it by then', async () => {
    const shared = sharing<number>()
    const [one, two] = [new AbortController(), new AbortController()]
    let ended = false
    const make = (signal: AbortSignal) =>
      new Promise<number>((_, reject) =>
        signal.addEventListener('abort', () =>
          setTimeout(() => {
            ended = true
            reject(signal.reason)
          }, 10),
        ),
      )
    const waiting = [shared.acquire('a', one.signal, make), shared.acquire('a', two.signal, make)]
    one.abort(new Error('first'))
    await expect(waiting[0]).rejects.toThrow('first')
    expect(ended).toBe(false)
    two.abort(new Error('second'))
    await expect(waiting[1]).rejects.toThrow('second')
    expect(ended).toBe(true)
  })

  it('lets a newcomer wait until one that was given up has ended, and disposes of what that still made', async () => {
    const disposed: string[] = []
    const shared = sharing<string>(value => disposed.push(value))
    const controller = new AbortController()
    const finish = Promise.withResolvers<string>()
    const given = shared.acquire('a', controller.signal, () => finish.promise)
    controller.abort(new Error('enough'))
    await new Promise(setImmediate)
    const next = shared.acquire('a', forever, async () => {
      expect(disposed).toEqual(['late'])
      return 'new'
    })
    finish.resolve('late')
    await expect(given).rejects.toThrow('enough')
    expect((await next).value).toBe('new')
  })
})
