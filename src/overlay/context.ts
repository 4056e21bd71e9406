// What every step on a machine needs: its disk, its service manager, its clock. Made once per command, injected everywhere.
import type { ContentDoor } from '../content/door.ts'
import type { Clock } from '../lib/clock.ts'
import type { Files } from '../lib/files.ts'
import type { Progress } from '../lib/progress.ts'
import type { Layout } from './layout.ts'
import type { Systemd } from './systemd/systemd.ts'

export interface NodeContext {
  readonly files: Files
  readonly layout: Layout
  readonly systemd: Systemd
  readonly content: ContentDoor
  readonly clock: Clock
  readonly progress: Progress
  readonly newId: () => string
  /** How to start Cairn again with other arguments: Node, its main file. Used by the boot unit and the revert timer. */
  readonly self: readonly string[]
}
