import { constants, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Trust } from '../messages.ts'
import { certificateDer, certificatePem, codeSigning, pemOf, someone } from './certificates.fake.ts'
import { judgeSignature } from './judge.ts'
import type { Material } from './material.ts'
import {
  aMaterial,
  aQuestion,
  aTrust,
  bareBundle,
  bundle,
  bundleOf,
  bundleType,
  cosignTag,
  pemOfKey,
  root,
  rootBytes,
} from './signatures.fake.ts'

const digest = Buffer.from(root, 'hex')
const ec = (namedCurve = 'P-256') => generateKeyPairSync('ec', { namedCurve })
const [mine, other] = [ec(), ec()]
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ed = generateKeyPairSync('ed25519')
const keys = [pemOfKey(mine.publicKey)]

const judgeRequest = (signature: Buffer | string, more: Partial<Trust> = {}) =>
  judgeSignature(
    aQuestion({ trust: aTrust({ keys, signature: Buffer.from(signature as string).toString('base64'), ...more }) }),
  )
const judgeBeside = (material: readonly Material[], more: Partial<Trust> = {}) =>
  judgeSignature(aQuestion({ material, trust: aTrust({ keys, ...more }) }))
const invalid = { verdict: 'refused', code: 'signature.invalid' }

describe('policy', () => {
  const bad = cosignTag({ key: other.privateKey })
  const good = cosignTag({ key: mine.privateKey })

  it.each([
    ['none', [], { verdict: 'good' }],
    ['none', bad, { verdict: 'good' }],
    ['optional', [], { verdict: 'unsigned' }],
    ['optional', bad, invalid],
    ['optional', good, { verdict: 'good', signedBy: expect.stringMatching(/^key sha256:[0-9a-f]{16}$/) }],
    ['required', [], { verdict: 'refused', code: 'signature.missing' }],
    ['required', bad, invalid],
    ['required', good, { verdict: 'good' }],
    ['required', [...bad, ...good], { verdict: 'good' }],
  ] as const)('%s (case %#)', (policy, material, expected) => {
    expect(judgeBeside(material, { policy })).toMatchObject(expected)
  })

  it('required fails closed: without keys nothing is good', () => {
    expect(judgeBeside(good, { keys: [] })).toMatchObject(invalid)
    expect(judgeBeside(good, { keys: [], policy: 'optional' })).toMatchObject(invalid)
  })

  it('looks at 100 signatures and no more, so that a flood costs no more than that', () => {
    const flood = (count: number) => Array.from({ length: count }, () => bad).flat()
    expect(judgeBeside([...flood(99), ...good])).toMatchObject({ verdict: 'good' })
    expect(judgeBeside([...flood(100), ...good])).toMatchObject(invalid)
  })

  it('any one of the allowed keys is enough, and one that cannot be read hinders no other', () => {
    const privatePem = mine.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    expect(judgeBeside(good, { keys: ['garbage', pemOfKey(other.publicKey), ...keys] })).toMatchObject({
      verdict: 'good',
    })
    const refused = judgeBeside(good, { keys: ['garbage', privatePem] })
    expect(refused).toMatchObject(invalid)
    expect(refused.reason).toContain('key 1 is not used: it is no public key')
    expect(refused.reason).toContain('key 2 is not used: it is a private key')
  })
})

describe('a signature of the request', () => {
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }
  const pssOnly = generateKeyPairSync('rsa-pss', { modulusLength: 2048, hashAlgorithm: 'sha256' })
  const curves = ['P-256', 'P-384', 'P-521'].map(ec) as [
    ReturnType<typeof ec>,
    ReturnType<typeof ec>,
    ReturnType<typeof ec>,
  ]
  const hashes = ['sha256', 'sha384', 'sha512']
  const cases: [string, { publicKey: KeyObject }, (message: Buffer) => Buffer][] = [
    ['RSA PKCS#1 v1.5', rsa, message => sign('sha256', message, rsa.privateKey)],
    ['RSA-PSS', rsa, message => sign('sha256', message, { key: rsa.privateKey, ...pss })],
    ['RSA-PSS with a key for nothing else', pssOnly, message => sign('sha256', message, pssOnly.privateKey)],
    ['Ed25519', ed, message => sign(null, message, ed.privateKey)],
    ...curves.flatMap((pair, index): typeof cases => [
      [`ECDSA ${index}, DER`, pair, message => sign(hashes[index], message, pair.privateKey)],
      [`ECDSA ${index}, SHA-256`, pair, message => sign('sha256', message, pair.privateKey)],
      [
        `ECDSA ${index}, r and s`,
        pair,
        message => sign(hashes[index], message, { key: pair.privateKey, dsaEncoding: 'ieee-p1363' }),
      ],
    ]),
  ]

  it.each(cases)('is good when made over the 32 bytes of the digest: %s', (_, { publicKey }, signed) => {
    expect(judgeRequest(signed(digest), { keys: [pemOfKey(publicKey)] })).toMatchObject({ verdict: 'good' })
  })

  it.each(cases)('is bad over anything else, or by another key: %s', (_, { publicKey }, signed) => {
    for (const message of [Buffer.from(root), rootBytes, Buffer.alloc(32)])
      expect(judgeRequest(signed(message), { keys: [pemOfKey(publicKey)] })).toMatchObject(invalid)
    expect(
      judgeRequest(signed(digest), { keys: [...keys, pemOfKey(generateKeyPairSync('ed25519').publicKey)] }),
    ).toMatchObject(invalid)
  })

  it.each([
    ['three bytes', Buffer.from([0x30, 1, 0])],
    ['one byte', Buffer.from([0x30])],
    ['zeros', Buffer.alloc(64)],
    [
      'r and s with a byte too much',
      Buffer.concat([sign('sha256', digest, { key: mine.privateKey, dsaEncoding: 'ieee-p1363' }), Buffer.alloc(1)]),
    ],
    ['DER with a byte too much', Buffer.concat([sign('sha256', digest, mine.privateKey), Buffer.alloc(1)])],
    ['another curve', sign('sha384', digest, ec('P-384').privateKey)],
  ])('is bad and harmless when it is %s', (_, signature) => {
    expect(judgeRequest(signature, { keys: [...keys, pemOfKey(ed.publicKey), pemOfKey(rsa.publicKey)] })).toMatchObject(
      invalid,
    )
  })

  it.each(['', '!', 'AAA', 'AAAA====', 'AB==', 'not base64 at all'])(
    'is bad and harmless when its base64 is %j',
    signature => {
      expect(judgeSignature(aQuestion({ trust: aTrust({ keys, signature }) }))).toMatchObject(invalid)
    },
  )

  it('may be broken into lines, as tools print it', () => {
    const signature = sign('sha256', digest, rsa.privateKey).toString('base64').replace(/.{76}/g, '$&\n')
    const trust = aTrust({ keys: [pemOfKey(rsa.publicKey)], signature })
    expect(judgeSignature(aQuestion({ trust }))).toMatchObject({ verdict: 'good' })
  })

  it('counts only from a key that is strong enough', () => {
    const short = generateKeyPairSync('rsa', { modulusLength: 1024 })
    const odd = generateKeyPairSync('ec', { namedCurve: 'secp256k1' })
    for (const { publicKey, privateKey } of [short, odd]) {
      const signature = sign('sha256', digest, privateKey)
      expect(judgeRequest(signature, { keys: [pemOfKey(publicKey)] })).toMatchObject(invalid)
    }
  })
})

describe('certificates', () => {
  const [top, middle, signer] = [someone('top'), someone('middle'), someone('signer')]
  const rootPem = certificatePem({ subject: top, issuer: top, authority: {} })
  const middleWish = { subject: middle, issuer: top, authority: {} }
  const leafWish = { subject: signer, issuer: middle, purposes: [codeSigning] }
  const [middlePem, leafPem] = [certificatePem(middleWish), certificatePem(leafWish)]
  const signature = sign('sha256', digest, signer.privateKey).toString('base64')
  const ask = (trust: Partial<Trust>, more: Parameters<typeof aQuestion>[0] = {}) =>
    judgeSignature(aQuestion({ roots: [rootPem], trust: aTrust({ signature, ...trust }), ...more }))

  it('vouch for the signature of a request, up to a root of trust/', () => {
    expect(ask({ chain: [leafPem, middlePem] })).toEqual({ verdict: 'good', signedBy: 'CN=signer' })
    expect(ask({ chain: [leafPem + middlePem] })).toMatchObject({ verdict: 'good' })
    expect(ask({ chain: [leafPem, middlePem] }, { roots: ['garbage', rootPem] })).toMatchObject({ verdict: 'good' })
  })

  it('never become roots by coming along', () => {
    expect(ask({ chain: [leafPem, middlePem, rootPem] }, { roots: [] })).toMatchObject(invalid)
    expect(ask({ chain: [leafPem, middlePem] }, { roots: [middlePem] })).toMatchObject(invalid)
  })

  it('do not vouch for what their key has not signed', () => {
    const stranger = certificatePem({ ...leafWish, subject: someone('signer') })
    expect(ask({ chain: [stranger, middlePem] })).toMatchObject(invalid)
    expect(ask({ chain: [middlePem, leafPem] })).toMatchObject(invalid)
  })

  it.each(['garbage', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', ''])(
    'that are %j are refused',
    garbage => {
      expect(ask({ chain: [garbage, middlePem] })).toMatchObject(invalid)
    },
  )

  it('are waited for when the request names them and they are not here', () => {
    const trust = { chain: [leafPem], certificates: ['middle'] }
    const arrived = [{ id: 'middle', pem: middlePem }]
    expect(ask(trust)).toMatchObject({ verdict: 'waiting', reason: expect.stringContaining('middle') })
    expect(ask(trust, { certificates: arrived })).toMatchObject({ verdict: 'good' })
    expect(ask({ ...trust, certificates: [] }, { certificates: arrived })).toMatchObject(invalid)
    expect(ask(trust, { certificates: [{ id: 'middle', pem: 'garbage' }] })).toMatchObject(invalid)
  })

  it('may be the leaf that is waited for', () => {
    const trust = { certificates: ['leaf', 'middle'] }
    const arrived = [
      { id: 'middle', pem: middlePem },
      { id: 'leaf', pem: leafPem },
    ]
    expect(ask(trust)).toMatchObject({ verdict: 'waiting' })
    expect(ask(trust, { certificates: arrived.slice(0, 1) })).toMatchObject({ verdict: 'waiting' })
    expect(ask(trust, { certificates: arrived })).toEqual({ verdict: 'good', signedBy: 'CN=signer' })
  })

  it('are not waited for when they could change nothing', () => {
    const certificates = ['later']
    const expired = certificatePem({ ...leafWish, to: '2026-12-01T00:00:00Z' })
    expect(ask({ chain: [expired, middlePem], certificates })).toMatchObject(invalid)
    expect(ask({ chain: [leafPem, middlePem], certificates, signature: 'AAAA' })).toMatchObject(invalid)
    expect(ask({ chain: [leafPem, middlePem], certificates })).toMatchObject({ verdict: 'good' })
  })

  it('vouch for a cosign signature that carries them', () => {
    const tag = (more: object) => cosignTag({ key: signer.privateKey, certificate: leafPem, chain: middlePem, ...more })
    const judge = (material: Material[]) => judgeSignature(aQuestion({ roots: [rootPem], material }))
    expect(judge(tag({}))).toEqual({ verdict: 'good', signedBy: 'CN=signer' })
    expect(judge(tag({ chain: undefined }))).toMatchObject(invalid)
    expect(judge(tag({ certificate: 'garbage' }))).toMatchObject(invalid)
    expect(judge(tag({ key: other.privateKey }))).toMatchObject(invalid)
  })

  it('vouch for a bundle that carries them', () => {
    const [leaf, issuer] = [certificateDer(leafWish), certificateDer(middleWish)]
    const direct = certificateDer({ subject: signer, issuer: top })
    const judge = (certificates: Buffer[]) =>
      judgeSignature(aQuestion({ roots: [rootPem], material: [bundle({ key: signer.privateKey, certificates })] }))
    expect(judge([direct])).toEqual({ verdict: 'good', signedBy: 'CN=signer' })
    expect(judge([leaf, issuer])).toMatchObject({ verdict: 'good' })
    expect(judge([leaf])).toMatchObject(invalid)
    expect(judge([Buffer.from('garbage')])).toMatchObject(invalid)
  })

  it('of Fulcio prove nothing here, not even under a root that is trusted', () => {
    const der = certificateDer({
      subject: signer,
      issuer: top,
      more: [{ oid: '1.3.6.1.4.1.57264.1.8', critical: false }],
    })
    const material = [bundle({ key: signer.privateKey, certificates: [der] })]
    const keyless = { verdict: 'refused', code: 'signature.keyless-unsupported' }
    expect(judgeSignature(aQuestion({ roots: [rootPem], material }))).toMatchObject(keyless)
    const tag = cosignTag({ key: signer.privateKey, certificate: pemOf(der) })
    expect(judgeSignature(aQuestion({ roots: [rootPem], material: tag }))).toMatchObject(keyless)
    expect(judgeBeside([...material, ...cosignTag({ key: mine.privateKey })])).toMatchObject({ verdict: 'good' })
    expect(judgeBeside([...material, ...cosignTag({ key: other.privateKey })])).toMatchObject(invalid)
  })
})

describe('a signature of cosign 2', () => {
  it.each([
    ['for another image', cosignTag({ key: mine.privateKey, digest: `sha256:${'0'.repeat(64)}` }), 'another image'],
    ['for the image without its algorithm', cosignTag({ key: mine.privateKey, digest: root }), 'another image'],
    ['of another type', cosignTag({ key: mine.privateKey, type: 'atomic container signature' }), 'another type'],
    ['by another key', cosignTag({ key: other.privateKey }), 'no allowed key'],
    ['that is empty', cosignTag({ key: mine.privateKey, signature: '' }), 'base64'],
    ['without its payload', cosignTag({ key: mine.privateKey }).slice(0, 1), 'payload is not here'],
  ])('is refused %s', (_, material, reason) => {
    const judgement = judgeBeside(material)
    expect(judgement).toMatchObject(invalid)
    expect(judgement.reason).toContain(reason)
  })

  it.each([
    '',
    'x',
    '[]',
    '{}',
    '{"critical":null}',
    '{"critical":{"type":"cosign container image signature","image":null}}',
  ])('is refused with the payload %j, also when that is signed', text => {
    const payload = aMaterial('application/vnd.dev.cosign.simplesigning.v1+json', Buffer.from(text))
    const [manifest] = cosignTag({
      key: mine.privateKey,
      signature: sign('sha256', payload.bytes, mine.privateKey).toString('base64'),
    })
    const named = JSON.parse(manifest!.bytes.toString())
    named.layers[0].digest = `sha256:${payload.sha256}`
    const material = [aMaterial(manifest!.mediaType, Buffer.from(JSON.stringify(named))), payload]
    expect(judgeBeside(material)).toMatchObject(invalid)
  })

  it('is not seen in a manifest that cannot be read, nor among other layers', () => {
    const [manifest] = cosignTag({ key: mine.privateKey })
    const broken = aMaterial(manifest!.mediaType, Buffer.from('{'))
    const plain = aMaterial(
      manifest!.mediaType,
      Buffer.from(manifest!.bytes.toString().replace('simplesigning', 'other')),
    )
    expect(judgeBeside([broken, plain])).toMatchObject({ code: 'signature.missing' })
  })
})

describe('a bundle of cosign 3', () => {
  it('is good by an allowed key', () => {
    expect(judgeBeside([bundle({ key: mine.privateKey })])).toMatchObject({ verdict: 'good' })
  })

  it('is good as a bare signature over the bytes of the root, when these are here', () => {
    const rootItself = aMaterial('application/vnd.oci.image.manifest.v1+json', rootBytes)
    const bare = bareBundle({ key: mine.privateKey })
    expect(judgeBeside([bare, rootItself])).toMatchObject({ verdict: 'good' })
    expect(judgeBeside([bare])).toMatchObject(invalid)
    expect(judgeBeside([bareBundle({ key: other.privateKey }), rootItself])).toMatchObject(invalid)
    const elsewhere = bareBundle({ key: mine.privateKey, digest: '0'.repeat(64) })
    expect(judgeBeside([elsewhere, rootItself])).toMatchObject(invalid)
  })

  it('is refused as a bare signature over other bytes that are called the root', () => {
    const bytes = Buffer.from('signed once, for something else')
    const lie = { ...aMaterial('application/vnd.oci.image.manifest.v1+json', bytes), sha256: root }
    expect(judgeBeside([bareBundle({ key: mine.privateKey, bytes, digest: root }), lie])).toMatchObject(invalid)
  })

  it.each([
    ['for another image', bundle({ key: mine.privateKey, digest: '0'.repeat(64) })],
    ['by another key', bundle({ key: other.privateKey })],
    ['with an empty signature', bundle({ key: mine.privateKey, signature: '' })],
    ['that is no JSON', aMaterial(bundleType, Buffer.from('x'))],
    ['without material', bundleOf({})],
    ['without a signature', bundleOf({ verificationMaterial: {} })],
    [
      'with an envelope of something else',
      bundleOf({
        verificationMaterial: {},
        dsseEnvelope: { payload: 'e30=', payloadType: 'x', signatures: [{ sig: 'AAAA' }] },
      }),
    ],
    [
      'that calls itself another version',
      aMaterial(bundleType, Buffer.from(bundle({ key: mine.privateKey }).bytes.toString().replace('v0.3', 'v0.2'))),
    ],
  ])('is refused %s', (_, material) => {
    expect(judgeBeside([material])).toMatchObject(invalid)
  })

  it('that states something else about the image is no signature', () => {
    const provenance = bundle({ key: mine.privateKey, predicateType: 'https://slsa.dev/provenance/v1' })
    expect(judgeBeside([provenance])).toMatchObject({ code: 'signature.missing' })
    expect(judgeBeside([provenance], { policy: 'optional' })).toEqual({ verdict: 'unsigned' })
  })
})

describe('whatever comes', () => {
  const parameters = {
    numRuns: Number(process.env.CAIRN_RUNS ?? 200),
    ...(process.env.CAIRN_SEED && { seed: Number(process.env.CAIRN_SEED) }),
  }
  const flipped = (bytes: Buffer, bit: number): Buffer => {
    const copy = Buffer.from(bytes)
    const at = bit % (8 * copy.length)
    copy[at >> 3]! ^= 1 << (at & 7)
    return copy
  }

  it('a flipped bit in the signature or in the digest is refused', () => {
    const signers = [
      { key: pemOfKey(rsa.publicKey), signature: sign('sha256', digest, rsa.privateKey) },
      { key: pemOfKey(ed.publicKey), signature: sign(null, digest, ed.privateKey) },
      { key: keys[0]!, signature: sign('sha256', digest, mine.privateKey) },
      { key: keys[0]!, signature: sign('sha256', digest, { key: mine.privateKey, dsaEncoding: 'ieee-p1363' }) },
    ]
    fc.assert(
      fc.property(fc.constantFrom(...signers), fc.nat(), fc.boolean(), ({ key, signature }, bit, inDigest) => {
        const trust = aTrust({
          keys: [key],
          signature: (inDigest ? signature : flipped(signature, bit)).toString('base64'),
        })
        const asked = (inDigest ? flipped(digest, bit) : digest).toString('hex') as typeof root
        expect(judgeSignature(aQuestion({ root: asked, trust }))).toMatchObject(invalid)
      }),
      parameters,
    )
  })

  it('a flipped bit in a payload or a bundle is never good by accident', () => {
    const [manifest, payload] = cosignTag({ key: mine.privateKey }) as [Material, Material]
    const whole = bundle({ key: mine.privateKey })
    fc.assert(
      fc.property(fc.nat(), bit => {
        // The manifest still names the payload by its digest: as if the verifier had let wrong bytes through.
        expect(judgeBeside([manifest, { ...payload, bytes: flipped(payload.bytes, bit) }])).toMatchObject(invalid)
        const { dsseEnvelope, ...rest } = JSON.parse(whole.bytes.toString())
        const body = flipped(Buffer.from(dsseEnvelope.payload, 'base64'), bit).toString('base64')
        const verdict = judgeBeside([bundleOf({ ...rest, dsseEnvelope: { ...dsseEnvelope, payload: body } })]).verdict
        expect(verdict).toBe('refused')
      }),
      parameters,
    )
  })

  it('no input throws', () => {
    const mediaTypes = [
      bundleType,
      'application/vnd.oci.image.manifest.v1+json',
      'application/vnd.dev.cosign.simplesigning.v1+json',
    ]
    const samples = [
      ...cosignTag({ key: mine.privateKey }),
      bundle({ key: mine.privateKey }),
      bareBundle({ key: mine.privateKey }),
    ]
    const bytes = fc.oneof(
      fc.uint8Array().map(Buffer.from),
      fc.json().map(text => Buffer.from(text)),
      fc.tuple(fc.constantFrom(...samples), fc.nat()).map(([sample, bit]) => flipped(sample.bytes, bit)),
    )
    const material = fc.array(
      fc.tuple(fc.constantFrom(...mediaTypes), bytes).map(([type, body]) => aMaterial(type, body)),
    )
    const trust = fc.record({
      keys: fc.array(fc.string()),
      signature: fc.string(),
      chain: fc.array(fc.string(), { maxLength: 8 }),
    })
    fc.assert(
      fc.property(material, trust, (found, given) => {
        const judgement = judgeSignature(aQuestion({ material: found, trust: aTrust(given) }))
        expect(judgement.verdict).toBe('refused')
      }),
      parameters,
    )
  })
})
