// What a channel is made of: whole frames in both directions, in order, until it closes. Memory and sockets keep the same
// contract (pubsub.suite.ts). A link knows nothing of what the frames say.

/** A longer frame is refused before it is read. */
export const maxFrame = 16 * 1024 * 1024

export interface LinkEvents {
  frame(bytes: Buffer): void
  /** The other side announced a frame that is too long; nothing more is read from it. */
  tooLong(): void
  /** What was sent has gone out: there is room again. */
  drain(): void
  /** Once, however it came about. Nothing follows. */
  close(): void
}

export interface Link {
  /** Nothing is read before; may be called once. */
  start(events: LinkEvents): void
  /** False when the other side is behind: what can wait is to wait for `drain`. After the end it does nothing. */
  send(frame: Uint8Array): boolean
  /** Closes when what was sent has been delivered. */
  end(): void
  /** Closes now; what is under way is lost. */
  destroy(): void
}
