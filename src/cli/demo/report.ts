// The same that the screen shows, for programs.
import { join } from 'node:path'
import { isHealthy, type MachineView } from './screen.ts'

export function reportToJson(
  views: readonly MachineView[],
  { directory, seconds }: { directory: string; seconds: number },
) {
  return {
    directory,
    seconds,
    healthy: views.every(isHealthy),
    machines: views.map(({ name, url, prepared, activated }) => ({
      name,
      root: join(directory, name),
      url,
      ...prepared,
      ...activated,
    })),
  }
}
