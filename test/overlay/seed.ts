// The first seed's example made real: containerd, runc and kubelet as small stand-in programs, served on loopback.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { sha256Hex } from '../../src/lib/json.ts'
import type { OverlayConfig } from '../../src/resources/overlay-config.ts'

export interface Sources {
  readonly origin: string
  /** Paths that were asked for, in order. */
  readonly requests: readonly string[]
  checksum(path: string): string
  close(): Promise<void>
}

/** Runs until it is stopped; on SIGHUP it reads its config again and says so. */
const daemon = (name: string) => `#!/bin/sh
echo "${name} $* with PATH $PATH"
trap 'echo reloaded >> /run/${name}-reloads' HUP
while :; do /bin/sleep 1000 & wait $!; done
`

export async function serveSources(): Promise<Sources> {
  const blobs = new Map<string, Buffer>([
    ['/containerd.tar.gz', await tarball({ 'containerd-1.7/bin/containerd': daemon('containerd') })],
    ['/runc', Buffer.from('#!/bin/sh\necho runc\n')],
    ['/kubelet', Buffer.from(daemon('kubelet'))],
  ])
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(request.url ?? '')
    const blob = blobs.get(request.url ?? '')
    response.writeHead(blob ? 200 : 404, blob ? { 'content-length': blob.length } : {}).end(blob)
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    checksum: path => `sha256:${sha256Hex(blobs.get(path)!)}`,
    close: () => closed(server),
  }
}

export function seedConfig({ origin, checksum }: Sources): OverlayConfig {
  return {
    version: 'v1',
    packageByNames: {
      containerd: {
        version: '1.7.0',
        source: {
          type: 'url+tar',
          uri: `${origin}/containerd.tar.gz`,
          checksum: checksum('/containerd.tar.gz'),
          stripComponents: 1,
        },
      },
      runc: { version: '1.1.0', source: { type: 'url', uri: `${origin}/runc`, checksum: checksum('/runc') } },
      kubelet: { version: '1.31.0', source: { type: 'url', uri: `${origin}/kubelet`, checksum: checksum('/kubelet') } },
      'containerd-config': {
        version: '1',
        source: { type: 'inline', content: 'version = 2\n', path: 'config.toml' },
        etcFiles: [{ source: 'config.toml', target: 'containerd/config.toml' }],
      },
      'kubelet-secrets': {
        version: '1',
        source: { type: 'inline', content: 'token\n', path: 'token' },
        etcFiles: [{ source: 'token', target: 'kubernetes/token', mode: '0600', owner: 'root', group: 'daemon' }],
      },
    },
    systemdUnitsByName: {
      containerd: {
        version: '1',
        packages: ['containerd', 'runc'],
        templateInline: `[Unit]
Description=containerd
[Service]
ExecStart={{.GetPackagePath "containerd" "bin" "containerd"}} --config /etc/containerd/config.toml
ExecReload=/bin/kill -HUP $MAINPID
Environment=PATH={{.GetPathEnv}}
[Install]
WantedBy=multi-user.target
`,
      },
      kubelet: {
        version: '1',
        packages: ['kubelet', 'containerd'],
        templateInline: `[Unit]
Description=kubelet
After=containerd.service
[Service]
ExecStart={{.GetPackagePath "kubelet" "bin" "kubelet"}} --v=2
Environment=PATH={{.GetPathEnvWithSystemDefaults}}
[Install]
WantedBy=multi-user.target
`,
      },
    },
  }
}

/** A copy with one thing changed. */
export function changed(config: OverlayConfig, change: (copy: OverlayConfig) => void): OverlayConfig {
  const copy = structuredClone(config)
  change(copy)
  return copy
}

async function tarball(entries: Readonly<Record<string, string>>): Promise<Buffer> {
  const archive = pack()
  for (const [name, content] of Object.entries(entries)) archive.entry({ name, mode: 0o755 }, content)
  archive.finalize()
  return gzipSync(await buffer(archive))
}

const closed = (server: Server) =>
  new Promise<void>(done => {
    server.closeAllConnections()
    server.close(() => done())
  })
