import { describe, expect, it } from 'vitest'
import type { ContentError, VerifyConfig, VerifyStatus } from '../messages.ts'
import { type BlobFailure, type BlobView, type Job, planBlob } from './plan-verify.ts'
import type { VerifiedFile } from './verified-file.ts'

const octets = 'application/octet-stream'
const file: VerifiedFile = {
  path: '/verified/a',
  mediaType: octets,
  mark: { size: 7, mtimeMs: 1, ino: 1 },
  checkedAt: '2026-01-01T00:00:00.000Z',
}
const config: VerifyConfig = { path: '/pending/a', mediaType: octets, size: 7, refs: 1, expired: false, attempt: 0 }
const { path: _, ...held } = config
const placeholder: VerifyConfig = { ...held, refs: 0 }
const lettingGo: VerifyConfig = { ...held, refs: 0, expired: true }
const copy: Job = { do: 'copy', path: '/pending/a', mediaType: octets, size: 7, attempt: 0 }
const error: ContentError = {
  code: 'content.digest-mismatch',
  text: 'other bytes',
  severity: 'error',
  since: '2026-01-01T00:00:00.000Z',
  source: 'verifier',
}
const rot: BlobFailure = { job: null, error: { ...error, code: 'content.bit-rot' }, due: false }
const status = (of: Partial<VerifyStatus>): VerifyStatus => ({
  state: 'initial',
  size: 0,
  currentSize: 0,
  attempt: 0,
  expired: false,
  ...of,
})
const verified = status({
  state: 'verified',
  path: file.path,
  mediaType: octets,
  size: 7,
  currentSize: 7,
  checkedAt: file.checkedAt!,
})

const plan = (view: Partial<BlobView>) => planBlob({ files: [], unchecked: [], stale: null, ...view })

describe('a blob that is asked for', () => {
  it('is copied when there is a download', () => {
    expect(plan({ config })).toEqual({
      action: { do: 'start', job: copy },
      status: status({ state: 'verifying', size: 7 }),
    })
  })

  it('tells how far the copy is, and starts no second one', () => {
    expect(plan({ config, job: { ...copy, done: 3 } })).toEqual({
      action: null,
      status: status({ state: 'verifying', size: 7, currentSize: 3 }),
    })
  })

  it('is not there without a download, so that the manager fetches it', () => {
    expect(plan({ config: held })).toEqual({ action: null, status: status({}) })
  })

  it('is verified with its file, and then nothing is done', () => {
    expect(plan({ config, files: [file], answered: 0 })).toEqual({ action: null, status: verified })
  })

  it('waits after a failure, and says which', () => {
    const failure = { job: copy, error, due: false }
    expect(plan({ config, failure })).toEqual({ action: null, status: status({ error }) })
  })

  it.each([
    ['a higher attempt', { ...config, attempt: 1 }],
    ['another download', { ...config, path: '/pending/b' }],
    ['another size', { ...config, size: 8 }],
    ['another media type', { ...config, mediaType: 'text/plain' }],
  ])('is looked at again after a failure for %s', (_, changed) => {
    const failure = { job: copy, error, due: false }
    expect(plan({ config: changed, failure, answered: 0 }).action).toMatchObject({ do: 'start', job: { do: 'copy' } })
  })

  it('is tried again when its time has come', () => {
    expect(plan({ config, failure: { job: copy, error, due: true } }).action).toEqual({ do: 'start', job: copy })
  })

  it('ends work that is no longer what was asked for before it begins anew', () => {
    expect(plan({ config: { ...config, attempt: 1 }, job: { ...copy, done: 3 } })).toEqual({
      action: { do: 'cancel' },
      status: status({ state: 'verifying', size: 7, attempt: 1 }),
    })
  })

  it('is left alone when the verifier died on it too often, until a higher attempt asks', () => {
    expect(plan({ config, parked: error })).toEqual({ action: null, status: status({ error }) })
    expect(plan({ config, parked: error, answered: 0 }).action).toBe(null)
    expect(plan({ config: { ...config, attempt: 1 }, parked: error, answered: 0 }).action).toMatchObject({
      do: 'start',
    })
  })

  it('gets a second name when it is asked for as something else', () => {
    const asked = { ...config, mediaType: 'text/plain' }
    const job: Job = { do: 'label', mediaType: 'text/plain', attempt: 0 }
    expect(plan({ config: asked, files: [file] })).toMatchObject({
      action: { do: 'start', job },
      status: { state: 'verifying' },
    })
    const failure = { job, error, due: false }
    expect(plan({ config: asked, files: [file], failure })).toEqual({ action: null, status: status({ error }) })
  })
})

describe('a verified file', () => {
  it('is hashed again when a higher attempt asks without a download, and stays verified meanwhile', () => {
    const asked = { ...held, attempt: 2 }
    expect(plan({ config: asked, files: [file], answered: 1 })).toEqual({
      action: { do: 'start', job: { do: 'check', why: 'asked', attempt: 2 } },
      status: { ...verified, attempt: 1 },
    })
  })

  it('is not hashed again for the first config after a start, nor for a lower attempt', () => {
    expect(plan({ config: { ...held, attempt: 5 }, files: [file] })).toEqual({
      action: null,
      status: { ...verified, attempt: 5 },
    })
    expect(plan({ config: held, files: [file], answered: 5 })).toEqual({ action: null, status: verified })
  })

  it('needs no copy of a new download', () => {
    expect(plan({ config: { ...config, attempt: 3 }, files: [file], answered: 2 })).toEqual({
      action: null,
      status: { ...verified, attempt: 3 },
    })
  })

  it.each(['old', 'asked'] as const)('is hashed again when it is stale (%s), wanted or not', stale => {
    const job: Job = { do: 'check', why: stale, attempt: 0 }
    for (const its of [undefined, held, placeholder])
      expect(plan({ config: its, files: [file], stale })).toEqual({ action: { do: 'start', job }, status: verified })
    expect(plan({ config: held, files: [file], stale, job: { ...job, done: 0 } }).action).toBe(null)
    expect(plan({ config: lettingGo, files: [file], stale }).action).toBe(null)
  })

  it('stays usable when it cannot be hashed for the moment, with the reason', () => {
    const failure = { job: { do: 'check', why: 'old', attempt: 0 } as const, error, due: false }
    expect(plan({ config: held, files: [file], stale: 'old', failure })).toEqual({
      action: null,
      status: { ...verified, error },
    })
  })

  it('that rotted is told of, with or without a config, and fetched anew', () => {
    expect(plan({ failure: rot })).toEqual({ action: null, status: status({ error: rot.error }) })
    expect(plan({ config: held, failure: rot })).toEqual({ action: null, status: status({ error: rot.error }) })
    expect(plan({ config, failure: rot }).action).toEqual({ do: 'start', job: copy })
  })
})

describe('what is found at start', () => {
  it('is said to be verified before anyone asks', () => {
    expect(plan({ files: [file] })).toEqual({ action: null, status: verified })
  })

  it('is hashed first when it must be, and nothing is said before', () => {
    const job: Job = { do: 'check', why: 'found', attempt: 0 }
    for (const its of [undefined, config, held, placeholder]) {
      expect(plan({ config: its, unchecked: [file] })).toEqual({ action: { do: 'start', job }, status: null })
      expect(plan({ config: its, unchecked: [file], job: { ...job, done: 0 } })).toEqual({ action: null, status: null })
    }
  })

  it('stays with a placeholder', () => {
    expect(plan({ config: placeholder, files: [file] })).toEqual({ action: null, status: verified })
  })
})

describe('letting go', () => {
  it('is echoed, and the file stays until the config has gone', () => {
    expect(plan({ config: lettingGo, files: [file], status: verified })).toEqual({
      action: null,
      status: { ...verified, expired: true },
    })
    expect(plan({ files: [file], status: { ...verified, expired: true } })).toEqual({
      action: { do: 'forget' },
      status: null,
    })
  })

  it('ends the work first', () => {
    expect(plan({ config: lettingGo, job: { ...copy, done: 1 } })).toEqual({
      action: { do: 'cancel' },
      status: status({ expired: true }),
    })
    const told = status({ expired: true })
    expect(plan({ job: { ...copy, done: 1 }, status: told })).toEqual({ action: { do: 'cancel' }, status: told })
  })

  it('takes what was not hashed yet as well', () => {
    expect(plan({ config: lettingGo, unchecked: [file] })).toEqual({ action: null, status: status({ expired: true }) })
    expect(plan({ unchecked: [file], status: status({ expired: true }) }).action).toEqual({ do: 'forget' })
  })

  it('without the handshake keeps a verified file, as when the manager begins anew', () => {
    expect(plan({ files: [file], status: verified, answered: 4 })).toEqual({ action: null, status: verified })
  })

  it('without the handshake forgets what came of nothing', () => {
    expect(plan({ failure: { job: copy, error, due: false }, status: status({ error }) })).toEqual({
      action: { do: 'forget' },
      status: null,
    })
    expect(plan({ job: { ...copy, done: 1 }, status: status({ state: 'verifying' }) }).action).toEqual({ do: 'cancel' })
  })

  it('begins nothing for what nobody wants', () => {
    expect(plan({ config: { ...config, refs: 0 } }).action).toBe(null)
  })
})

describe('reviving', () => {
  const expired = { ...verified, expired: true }
  it.each([
    ['after refs went to 0', { files: [file], status: verified }, verified],
    ['after the echo', { files: [file], status: expired }, verified],
    ['after the file has gone', { status: undefined }, status({})],
    ['after the echo without a file', { status: status({ expired: true }) }, status({})],
  ])('%s gives the truth about the file', (_, view, expected) => {
    expect(plan({ ...view, config: held })).toEqual({ action: null, status: expected })
  })

  it('while the work is being ended begins it again only when it has ended', () => {
    const told = status({ expired: true })
    const again = { ...config, attempt: 1 }
    expect(plan({ config: again, job: { ...copy, done: 1 }, status: told }).action).toEqual({ do: 'cancel' })
    expect(plan({ config: again, status: told }).action).toMatchObject({ do: 'start' })
  })
})
