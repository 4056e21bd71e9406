// What nobody answers: there is nothing there, or not for this method.
import { routes } from './contract/all.ts'
import type { Route } from './contract/route.ts'
import type { Failure } from './failure.ts'

const patterns = (Object.values(routes) as Route[]).map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
}))

export function notFound(url: string): Failure {
  const path = url.split('?', 1)[0]!
  const methods = [...new Set(patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))]
  if (methods.length === 0)
    return {
      status: 404,
      problems: [
        {
          code: 'route.unknown',
          path: '',
          reason: 'there is nothing at this address',
          hint: 'GET /api/v1/docs shows what there is.',
        },
      ],
    }
  return {
    status: 405,
    problems: [{ code: 'request.method', path: '', reason: `only ${methods.join(', ')} can be asked of this address` }],
    headers: { allow: methods.join(', ') },
  }
}
