// What can be published, and who may publish and read it. A peer's rights come from the channel it is on, never from what
// it says of itself. There is no topic that passes from the downloader to the verifier: the manager stands between them.
import type * as z from 'zod'
import * as messages from './messages.ts'

/** What a channel is for. `requester` may ask for content, `watcher` may only look. */
export type PeerRole = messages.ProcessName | 'supervisor' | 'requester' | 'watcher'

interface TopicRule {
  readonly schema: z.ZodType
  readonly from: readonly PeerRole[]
  readonly to: readonly PeerRole[]
  /** May be kept on disk until it is retracted, so that it is there again before anyone asks. */
  readonly keeps?: true
}

const askers = ['requester', 'supervisor'] as const
const lookers = ['requester', 'watcher', 'supervisor'] as const

export const topics = {
  contentConfig: { schema: messages.contentConfigSchema, from: askers, to: ['manager', 'requester'], keeps: true },
  contentStatus: { schema: messages.contentStatusSchema, from: ['manager'], to: lookers },
  volumeConfig: { schema: messages.volumeConfigSchema, from: askers, to: ['manager', 'requester'], keeps: true },
  volumeStatus: { schema: messages.volumeStatusSchema, from: ['manager'], to: lookers },
  certConfig: { schema: messages.certConfigSchema, from: askers, to: ['manager'], keeps: true },
  certStatus: { schema: messages.certStatusSchema, from: ['verifier'], to: ['manager', ...lookers] },
  certMaterial: { schema: messages.certMaterialSchema, from: ['manager'], to: ['verifier'] },
  resolveConfig: { schema: messages.resolveConfigSchema, from: ['manager'], to: ['downloader'] },
  resolveStatus: { schema: messages.resolveStatusSchema, from: ['downloader'], to: ['manager'] },
  downloadConfig: { schema: messages.downloadConfigSchema, from: ['manager'], to: ['downloader'] },
  downloadStatus: { schema: messages.downloadStatusSchema, from: ['downloader'], to: ['manager'] },
  verifyConfig: { schema: messages.verifyConfigSchema, from: ['manager'], to: ['verifier'] },
  verifyStatus: { schema: messages.verifyStatusSchema, from: ['verifier'], to: ['manager', ...lookers] },
  signatureConfig: { schema: messages.signatureConfigSchema, from: ['manager'], to: ['verifier'] },
  signatureStatus: { schema: messages.signatureStatusSchema, from: ['verifier'], to: ['manager'] },
  downloadSettings: { schema: messages.downloadSettingsSchema, from: askers, to: ['downloader'] },
  managerSettings: { schema: messages.managerSettingsSchema, from: askers, to: ['manager'] },
  verifierSettings: { schema: messages.verifierSettingsSchema, from: askers, to: ['verifier'] },
  isolation: { schema: messages.isolationSchema, from: ['supervisor'], to: lookers },
} as const satisfies Record<string, TopicRule>

export type TopicName = keyof typeof topics
export type Message<T extends TopicName> = z.infer<(typeof topics)[T]['schema']>
