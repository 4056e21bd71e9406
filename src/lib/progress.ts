// Long work tells how far it is; who shows it decides how (cli/progress.ts: a live bar on a terminal, plain lines elsewhere).

export interface Progress {
  /** `total` in bytes, when known at the start. */
  begin(label: string, total?: number): Task
}

export interface Task {
  /** Learned later, as from Content-Length. */
  expect(total: number): void
  advance(bytes: number): void
  done(note?: string): void
  fail(reason: string): void
}

const silentTask: Task = { expect() {}, advance() {}, done() {}, fail() {} }

export const silentProgress: Progress = { begin: () => silentTask }
