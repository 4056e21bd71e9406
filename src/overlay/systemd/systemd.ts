// The port to a machine's service manager. Kept by dbus.ts and systemctl.ts (real), offline.ts (--root: nothing runs),
// and memory.fake.ts (tests). systemd.suite.ts states what the real ones and the fake promise.
//
// Promises: unit names are passed literally, never globbed or unescaped. A batch is submitted as a whole, so that the
// manager orders it; one failing job does not stop the others; each job's wait is bounded by its own timeout.
import type { UnitName } from '../names.ts'

export interface Systemd {
  readonly kind: 'dbus' | 'systemctl' | 'runner' | 'offline' | 'memory'
  /** One answer for each name asked, also for units that do not exist (load: 'not-found'). */
  show(units: readonly UnitName[]): Promise<Map<UnitName, UnitStatus>>
  /** Names of all units in memory that are not inactive; instances of templates among them. */
  active(): Promise<UnitName[]>
  daemonReload(): Promise<void>
  resetFailed(units: readonly UnitName[]): Promise<void>
  run(jobs: readonly Job[]): Promise<JobResult[]>
  /** A transient timer that runs a command once, outliving this process. Setting the same name again replaces it. */
  runLater(timer: { unit: string; afterMs: number; command: readonly string[] }): Promise<void>
  cancelLater(unit: string): Promise<void>
  /** What the unit logged last, oldest first; empty where nothing is kept (journalctl is not there, nothing runs). */
  lastLines(unit: UnitName, count: number): Promise<string[]>
  close(): void
}

export interface UnitStatus {
  readonly unit: UnitName
  /** The Id: differs from `unit` when that is an alias. */
  readonly id: UnitName
  readonly load: 'loaded' | 'not-found' | 'masked' | 'bad-setting' | 'error' | 'stub' | 'merged'
  readonly active: 'active' | 'reloading' | 'inactive' | 'failed' | 'activating' | 'deactivating' | 'maintenance'
  readonly sub: string
  readonly fragmentPath: string
  readonly dropInPaths: readonly string[]
  readonly needDaemonReload: boolean
  /** 0 when there is none. */
  readonly mainPid: number
  readonly mainStatus: number
  readonly result: string
  readonly restarts: number
  readonly refuseManualStart: boolean
  readonly refuseManualStop: boolean
  /** Milliseconds; null is infinity. */
  readonly startTimeoutMs: number | null
  readonly stopTimeoutMs: number | null
  /** Active units that pull this one in by Wants= or Requires= are what makes a new unit start. */
  readonly wantedBy: readonly UnitName[]
  readonly triggeredBy: readonly UnitName[]
}

export type JobVerb = 'start' | 'stop' | 'restart' | 'reload'

export interface Job {
  readonly do: JobVerb
  readonly unit: UnitName
  readonly timeoutMs: number
}

export interface JobResult {
  readonly do: JobVerb
  readonly unit: UnitName
  readonly ok: boolean
  /** systemd's job result ('failed', 'timeout', 'dependency', 'canceled', 'skipped') or its refusal in words; '' when ok. */
  readonly detail: string
}
