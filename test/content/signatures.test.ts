// Who signed an image, found and judged through the program that ships against a real registry: signatures of the real
// cosign and of our own keys, beside the image or in the request, with certificates that come later.
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { contentRefOf } from '../../src/content/content-ref.ts'
import type { CertConfig, ContentConfig, ContentRef, ContentStatus, Trust } from '../../src/content/messages.ts'
import type { Peer } from '../../src/content/pubsub/peer.ts'
import { certificatePem, codeSigning, someone } from '../../src/content/signature/certificates.fake.ts'
import { pemOfKey } from '../../src/content/signature/signatures.fake.ts'
import { serveBlobs } from '../overlay/blob-server.ts'
import { describeWith } from '../require.ts'
import { type ContentMachine, contentMachine, eventually } from './cairn.ts'
import { makeImage, ownPlatform, randomLayer } from './image.ts'
import { pushImage, type RealRegistry, startRegistry } from './registry.ts'
import { cosignKey, cosignRoot, pushSignedByCosign, signWithBundle, signWithTag } from './signing.ts'

describeWith(['docker-registry'], 'an image with signatures beside it', () => {
  let registry: RealRegistry
  let machine: ContentMachine
  const team = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  beforeAll(async () => {
    registry = await startRegistry()
    machine = await contentMachine()
    await machine.startDaemon()
  })
  afterAll(async () => {
    await machine?.dispose()
    await registry?.stop()
  })

  let repositories = 0
  /** In a repository of its own. */
  const anImage = async () => {
    const repository = `app${repositories++}`
    const image = await makeImage({ platforms: { [ownPlatform]: [randomLayer({ seed: repositories, bytes: 1000 })] } })
    await pushImage(registry, image, { repository, tag: 'v1' })
    return { place: { registry, repository }, root: image.index.sha256, reference: `${registry.host}/${repository}:v1` }
  }
  const keyFile = (name: string, key: KeyObject | string) =>
    machine.write(`${name}.pub`, typeof key === 'string' ? key : pemOfKey(key))
  const pull = (reference: string, ...words: string[]) =>
    machine.cairn<ContentStatus>('content', 'pull', reference, ...words)

  it.each(['tag', 'bundle'] as const)(
    'passes with what the real cosign left there (%s), and says who signed',
    async how => {
      const repository = `cosign-${how}`
      const root = await pushSignedByCosign({ registry, repository }, how)
      const reference = `${registry.host}/${repository}:v1`
      const words = ['--key', keyFile('cosign', cosignKey()), '--platform', 'linux/amd64']
      const pulled = await pull(reference, ...words)
      expect(pulled).toMatchObject({ state: 'verified', sha256: root, waitingForCerts: false })
      expect(pulled.signedBy).toMatch(/^key /)
      const [, wrong = ''] = ['--key', keyFile('stranger', stranger.publicKey)]
      const refusal = await machine.refused('content', 'pull', reference, '--key', wrong, '--platform', 'linux/amd64')
      expect(refusal).toMatchObject({ code: 'signature.invalid' })
      await machine.cairn('content', 'rm', reference)
    },
  )

  it.each([
    ['as cosign 2 does', signWithTag],
    ['as cosign 3 does', signWithBundle],
  ] as const)('passes with the key of the team, signed %s; policy required and optional alike', async (_, signWith) => {
    const { place, root, reference } = await anImage()
    await signWith(place, root, { key: team.privateKey })
    const key = keyFile('team', team.publicKey)
    for (const policy of ['required', 'optional']) {
      const pulled = await pull(reference, '--key', key, '--policy', policy)
      expect(pulled).toMatchObject({ state: 'verified', sha256: root, signedBy: expect.stringMatching(/^key /) })
      await machine.cairn('content', 'rm', root)
    }
    await eventually(isEmpty)
  })

  const isEmpty = () => [...machine.names('verified'), ...machine.names('pending')].length === 0
  const flipped = (root: string) => root.replace(/./, first => (first === '0' ? '1' : '0'))
  it.each([
    ['nobody has signed', 'signature.missing', async () => {}],
    [
      'a stranger has signed',
      'signature.invalid',
      (place, root) => signWithTag(place, root, { key: stranger.privateKey }),
    ],
    [
      'a stranger has signed, in a bundle',
      'signature.invalid',
      (place, root) => signWithBundle(place, root, { key: stranger.privateKey }),
    ],
    [
      'the team has signed, but another image',
      'signature.invalid',
      (place, root) => signWithTag(place, root, { key: team.privateKey, of: flipped(root) }),
    ],
    [
      'the team has signed, but another image, in a bundle',
      'signature.invalid',
      (place, root) => signWithBundle(place, root, { key: team.privateKey, of: flipped(root) }),
    ],
    [
      'its signature is three bytes',
      'signature.invalid',
      (place, root) => signWithTag(place, root, { key: team.privateKey, signature: 'AAAA' }),
    ],
  ] satisfies [string, string, (place: Parameters<typeof signWithTag>[0], root: string) => Promise<void>][])(
    'is refused when %s (%s), and nothing is kept',
    async (_, code, signWith) => {
      const { place, root, reference } = await anImage()
      await signWith(place, root)
      const key = keyFile('team', team.publicKey)
      expect(await machine.refused('content', 'pull', reference, '--key', key)).toMatchObject({ exit: 1, code })
      expect(await machine.cairn('content', 'list')).toEqual({ content: [] })
      await eventually(isEmpty)
    },
  )

  it('is good enough without a signature when that is optional, and not with a bad one', async () => {
    const key = keyFile('team', team.publicKey)
    const plain = await anImage()
    const pulled = await pull(plain.reference, '--key', key, '--policy', 'optional')
    expect(pulled).toMatchObject({ state: 'verified' })
    expect(pulled.signedBy).toBeUndefined()
    const bad = await anImage()
    await signWithTag(bad.place, bad.root, { key: stranger.privateKey })
    const refusal = await machine.refused('content', 'pull', bad.reference, '--key', key, '--policy', 'optional')
    expect(refusal).toMatchObject({ code: 'signature.invalid' })
    await machine.cairn('content', 'rm', plain.reference)
  })

  it('makes no volume without the signature that is required', async () => {
    const { reference } = await anImage()
    const key = keyFile('team', team.publicKey)
    const words = ['volume', 'create', 'app', '--kind', 'container', '--from', reference, '--key', key]
    expect(await machine.refused(...words)).toMatchObject({ code: 'signature.missing' })
    expect(machine.names('volumes')).toEqual([])
  })

  it('passes with a certificate of the real cosign, when its root is trusted here', async () => {
    const repository = 'certified'
    await pushSignedByCosign({ registry, repository }, 'certified')
    const words = [`${registry.host}/${repository}:v1`, '--policy', 'required', '--platform', 'linux/amd64']
    expect(await machine.refused('content', 'pull', ...words)).toMatchObject({ code: 'signature.invalid' })
    writeFileSync(join(machine.layout.trust, 'root.pem'), cosignRoot())
    const pulled = await machine.cairn<ContentStatus>('content', 'pull', ...words)
    expect(pulled).toMatchObject({ state: 'verified', signedBy: 'CN=leaf' })
  })
})

describeWith(['docker-registry'], 'an image whose signature came with the request', () => {
  const [root, intermediate, leaf] = ['root', 'intermediate', 'leaf'].map(someone) as [Someone, Someone, Someone]
  const certificates = {
    root: certificatePem({ subject: root, issuer: root, authority: {}, keyUsage: ['keyCertSign'] }),
    intermediate: certificatePem({ subject: intermediate, issuer: root, authority: {}, keyUsage: ['keyCertSign'] }),
    leaf: certificatePem({
      subject: leaf,
      issuer: intermediate,
      keyUsage: ['digitalSignature'],
      purposes: [codeSigning],
    }),
  }
  let registry: RealRegistry
  let machine: ContentMachine
  let peer: Peer
  let ref: ContentRef
  let files: Awaited<ReturnType<typeof serveBlobs>>
  beforeAll(async () => {
    registry = await startRegistry()
    machine = await contentMachine()
    mkdirSync(machine.layout.trust, { recursive: true })
    writeFileSync(join(machine.layout.trust, 'root.pem'), certificates.root)
    const image = await makeImage({ platforms: { [ownPlatform]: [randomLayer({ seed: 1, bytes: 1000 })] } })
    await pushImage(registry, image, { repository: 'app', tag: 'v1' })
    files = await serveBlobs({ 'intermediate.pem': Buffer.from(certificates.intermediate) })
    const signature = sign('sha256', Buffer.from(image.index.sha256, 'hex'), leaf.privateKey).toString('base64')
    const trust: Trust = { policy: 'required', keys: [], certificates: ['leaf', 'intermediate'], signature }
    ref = contentRefOf({ text: `${registry.host}/app:v1`, baseDirectory: '/', trust }) as ContentRef
    peer = await (await machine.startDaemon()).peer()
  })
  afterAll(async () => {
    peer?.close()
    await files?.close()
    await machine?.dispose()
    await registry?.stop()
  })

  const status = () => peer.all('contentStatus').get('packages/app')
  const send = (config: CertConfig) => peer.publish('certConfig', config.id, config)

  it('waits for its certificates, and is verified when the last of them has come, as content itself', async () => {
    const config: ContentConfig = { scope: 'packages', id: 'app', ref, until: 'verified' }
    peer.publish('contentConfig', 'packages/app', config)
    await eventually(() => status()?.state === 'verifying' && status()?.waitingForCerts)

    send({ id: 'leaf', role: 'leaf', from: { kind: 'inline', pem: certificates.leaf } })
    await eventually(() => peer.all('certStatus').get('leaf')?.state === 'verified')
    // Its layers may still be on their way.
    expect(status()).toMatchObject({ state: expect.not.stringMatching('verified'), waitingForCerts: true })

    const sources = [{ kind: 'url' as const, url: files.url('intermediate.pem') }]
    send({ id: 'intermediate', role: 'intermediate', from: { kind: 'content', sources } })
    await eventually(() => status()?.state === 'verified')
    expect(status()).toMatchObject({ waitingForCerts: false, signedBy: 'CN=leaf' })
    expect(status()).not.toHaveProperty('error')
  })

  it('is told from one that another key has signed', async () => {
    const digest = Buffer.from(status()!.sha256!, 'hex')
    const signature = sign('sha256', digest, intermediate.privateKey).toString('base64')
    const other: ContentRef = { ...ref, trust: { ...ref.trust, signature } }
    peer.publish('contentConfig', 'packages/other', { scope: 'packages', id: 'other', ref: other, until: 'verified' })
    const refused = await eventually(() => {
      const found = peer.all('contentStatus').get('packages/other')
      return found?.error && found
    })
    expect(refused).toMatchObject({ state: 'verifying', error: { code: 'signature.invalid', severity: 'error' } })
    expect(status()).toMatchObject({ state: 'verified' })
  })
})

type Someone = ReturnType<typeof someone>
