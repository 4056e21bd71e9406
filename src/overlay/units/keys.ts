// Keys that need special care, in one place: what cannot change a running process, and what Cairn itself reads and writes.

export const restartTriggers = 'X-Restart-Triggers'
export const reloadTriggers = 'X-Reload-Triggers'

/** How a unit wants to be treated; read by policy.ts. */
export const policyKeys = [
  'X-SwitchMethod',
  'X-ReloadIfChanged',
  'X-RestartIfChanged',
  'X-StopIfChanged',
  'X-StopOnRemoval',
  'X-StopOnReconfiguration',
  'X-OnlyManualStart',
  'X-NotSocketActivated',
] as const
export type PolicyKey = (typeof policyKeys)[number]

const withoutEffect = new Set([
  'Description',
  'Documentation',
  'OnFailure',
  'OnSuccess',
  'OnFailureJobMode',
  'IgnoreOnIsolate',
  'StopWhenUnneeded',
  'RefuseManualStart',
  'RefuseManualStop',
  'AllowIsolate',
  'CollectMode',
  'SourcePath',
])
const policy = new Set<string>(policyKeys)

/** True for keys that daemon-reload takes over, or that only steer what Apply does. */
export function isWithoutEffect(section: string, key: string): boolean {
  if (section === 'Install') return true
  if (section === 'Unit' && withoutEffect.has(key)) return true
  return (section === 'Unit' || section === 'Service') && policy.has(key)
}
