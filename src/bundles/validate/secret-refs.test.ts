import { describe, expect, it } from 'vitest'
import { documents, store, understandText } from './understand.fake.ts'
import { checkRows } from './understand.suite.ts'

describe('secrets', () => {
  const clear = 'hunter2-in-clear'
  checkRows([
    [
      'refuses clear text',
      store('x', `  password: ${clear}\n`),
      ['secret.inline Store/x.spec.password 5:13'],
      'secretRef',
    ],
    [
      'refuses clear text in a mapping',
      store('x', `  password: { value: ${clear} }\n`),
      ['secret.inline Store/x.spec.password 5:13'],
    ],
    [
      'refuses clear text from outside',
      store('x', '  password: { envRef: { key: p } }\n'),
      ['secret.inline Store/x.spec.password 5:13'],
      undefined,
      { env: { p: clear } },
    ],
    [
      'refuses clear text in a list of names',
      store('x', `  pullSecrets: [{ name: ok }, ${clear}]\n`),
      ['secret.inline Store/x.spec.pullSecrets[1] 5:31'],
      '{ name: KEY }',
    ],
    [
      'refuses a secret elsewhere',
      store('x', '  user: { secretRef: { key: k } }\n'),
      ['secret.not-allowed Store/x.spec.user 5:9'],
    ],
    [
      'refuses a secret in the lifecycle',
      `kind: Mark\nmetadata: { name: xx, lifecycle: { onRemove: { secretRef: { key: k } } } }\n`,
      ['secret.not-allowed Mark/xx.metadata.lifecycle.onRemove 2:46'],
    ],
    [
      'tells a misspelt field once',
      store('x', '  pasword: { secretRef: { key: k } }\n'),
      ['key.unknown Store/x.spec.pasword 5:3'],
      '"password"',
    ],
    [
      'refuses a secretRef without key',
      store('x', '  password: { secretRef: {} }\n'),
      ['value.missing Store/x.spec.password.secretRef.key 5:15'],
    ],
  ])

  checkRows([
    [
      'refuses a key that is none',
      store('x', '  password: { secretRef: { key: "a b" } }\n  pullSecrets: [{ name: [k] }]\n'),
      ['value.invalid Store/x.spec.password.secretRef.key 5:33', 'value.type Store/x.spec.pullSecrets[0].name 6:25'],
    ],
    [
      'tells a misspelt key once',
      store('x', '  password: { secretRef: { kye: k } }\n'),
      ['key.unknown Store/x.spec.password.secretRef.kye 5:28'],
      '"key"',
    ],
  ])

  it('never repeats the value', () => {
    const texts = [
      store('x', `  password: ${clear}\n`),
      store('x', `  password: { value: ${clear} }\n`),
      store('x', `  password: { secretRef: { key: k }, value: ${clear} }\n`),
      store('x', `  password: [${clear}]\n`),
      store('x', `  pasword: ${clear}\n`),
      store('x', '  password: { envRef: { key: p } }\n'),
      store('x', `  password: { envRef: { key: q, default: ${clear} } }\n`),
      store('x', `  password: { envRef: { key: p, type: integer } }\n`),
    ]
    for (const text of texts)
      for (const skipValidation of [false, true]) {
        const { bundle, ...rest } = understandText(text, { env: { p: clear }, options: { skipValidation } })
        const shown = JSON.stringify([rest, bundle.resources.map(({ spec, envRefs }) => [spec, envRefs])])
        expect(shown).not.toContain(clear)
      }
  })

  it('gathers the keys, sorted, each once', () => {
    const { secretKeys, bundle, problems } = understandText(
      documents(
        store('x', '  password: { secretRef: { key: zeta } }\n  pullSecrets: [{ name: beta }, { name: alpha }]\n'),
        store('y', '  password: { secretRef: { key: alpha } }\n'),
      ),
    )
    expect(problems).toEqual([])
    expect(secretKeys).toEqual(['alpha', 'beta', 'zeta'])
    expect(bundle.resources.map(({ secretKeys }) => secretKeys)).toEqual([['alpha', 'beta', 'zeta'], ['alpha']])
  })
})
