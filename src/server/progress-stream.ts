// An apply as application/x-ndjson: a line for each step, the answer with its status as the last one. The stream begins when
// the first step runs; until then a refusal still has its own status.
import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { StepProgress } from '../bundles/request.ts'

export interface ProgressStream {
  /** Gathers what waits; opens the stream at the first step that does more. */
  onProgress(step: StepProgress): void
  readonly begun: boolean
  end(answer: { readonly status: number } & Readonly<Record<string, unknown>>): void
}

export function createProgressStream(reply: FastifyReply): ProgressStream {
  const waiting: StepProgress[] = []
  let begun = false
  // Whoever went away is no reason to stop; the work goes on.
  const write = (value: unknown) => {
    if (!reply.raw.destroyed) reply.raw.write(`${JSON.stringify(value)}\n`)
  }
  return {
    get begun() {
      return begun
    },
    onProgress: step => {
      if (begun) return write(step)
      waiting.push(step)
      if (step.state === 'waiting') return
      begun = true
      const headers = reply.getHeaders() as OutgoingHttpHeaders
      reply.hijack()
      reply.raw.writeHead(200, { ...headers, 'content-type': 'application/x-ndjson; charset=utf-8' })
      for (const earlier of waiting) write(earlier)
    },
    end: answer => {
      write(answer)
      reply.raw.end()
    },
  }
}
