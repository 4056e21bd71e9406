// Every route there is, by the name of its handler.
import * as access from './access.ts'
import { applyBundle, exportBundle, planBundle } from './bundles.ts'
import * as resources from './resources.ts'
import { apiPage, events, health, metrics, openapi, readiness } from './service.ts'
import * as stacks from './stacks.ts'

const { liveSchema: _, ...resourceRoutes } = resources

export const routes = {
  planBundle,
  applyBundle,
  exportBundle,
  ...stacks,
  ...resourceRoutes,
  ...access,
  events,
  health,
  readiness,
  metrics,
  openapi,
  apiPage,
}

export type RouteName = keyof typeof routes
