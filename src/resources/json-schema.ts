// The kinds as JSON Schema, for editors and other programs that write or check these files.
import * as z from 'zod'
import { contentSettingsSchema } from './content-settings.ts'
import { overlayConfigSchema } from './overlay-config.ts'

export const jsonSchemas = {
  ContentSettings: () => z.toJSONSchema(contentSettingsSchema),
  OverlayConfig: () => z.toJSONSchema(overlayConfigSchema),
}
