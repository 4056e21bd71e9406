/** What of it is used here. */
declare module 'autocannon' {
  export interface Options {
    readonly url: string
    readonly connections: number
    readonly duration: number
    readonly method?: 'GET' | 'POST'
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
  }
  export interface Result {
    readonly requests: { readonly average: number; readonly total: number }
    /** In milliseconds. */
    readonly latency: { readonly p50: number; readonly p99: number; readonly max: number }
    readonly non2xx: number
    readonly errors: number
  }
  export default function autocannon(options: Options): Promise<Result>
}
