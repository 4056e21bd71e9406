// Every kind of cairn.dev/v1, in the order in which people read about them.
import type { Kind } from '../kind.ts'
import { cachedImage } from './cached-image.ts'
import { cachedImageSet } from './cached-image-set.ts'
import { datastore } from './datastore.ts'
import { discoveryPolicy } from './discovery-policy.ts'
import { instance } from './instance.ts'
import { label } from './label.ts'
import { machine } from './machine.ts'
import { pullPolicy } from './pull-policy.ts'
import { rolloutPolicy } from './rollout-policy.ts'
import { trustRoot } from './trust-root.ts'
import { variable } from './variable.ts'
import { volume } from './volume.ts'

export const kinds: readonly Kind[] = [
  label,
  variable,
  machine,
  instance,
  volume,
  datastore,
  trustRoot,
  cachedImage,
  cachedImageSet,
  discoveryPolicy,
  pullPolicy,
  rolloutPolicy,
]
