// What has a JSON Schema, apart from the schemas, so that the command line knows the names without loading them.

export const schemaNames = [
  'Bundle',
  'CachedImage',
  'CachedImageSet',
  'ContentSettings',
  'Datastore',
  'DiscoveryPolicy',
  'Instance',
  'Label',
  'Machine',
  'OverlayConfig',
  'PullPolicy',
  'RolloutPolicy',
  'TrustRoot',
  'Variable',
  'Volume',
] as const

export type SchemaName = (typeof schemaNames)[number]
