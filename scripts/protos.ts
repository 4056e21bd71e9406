// Makes src/volumes/container/containerd/generated/ from the protos beside it. Needs protoc (Debian: protobuf-compiler, libprotobuf-dev).
// The protos are those of github.com/containerd/containerd/api v1.8.0, unchanged; older daemons ignore the fields they
// do not know. Run `node scripts/protos.ts` after another version of them was put there.
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const project = fileURLToPath(new URL('..', import.meta.url))
const containerd = join(project, 'src/volumes/container/containerd')
const protos = join(containerd, 'proto')
/** How the protos import each other. */
const importedAs = 'github.com/containerd/containerd/api'

const scratch = mkdtempSync(join(tmpdir(), 'cairn-protos-'))
try {
  // JavaScript with declarations, since the generator writes enums in TypeScript and Node strips types only.
  const args = [
    `--plugin=protoc-gen-es=${join(project, 'node_modules/.bin/protoc-gen-es')}`,
    `--proto_path=${importedAs}=${protos}`,
    '--proto_path=/usr/include',
    `--es_out=${scratch}`,
    '--es_opt=target=js+dts,import_extension=js',
    ...globSync('**/*.proto', { cwd: protos }).map(file => `${importedAs}/${file}`),
  ]
  execFileSync('protoc', args, { stdio: 'inherit' })
  rmSync(join(containerd, 'generated'), { recursive: true, force: true })
  cpSync(join(scratch, importedAs), join(containerd, 'generated'), { recursive: true })
} finally {
  rmSync(scratch, { recursive: true })
}
