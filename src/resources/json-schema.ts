// The kinds as JSON Schema, for editors and other programs that write or check these files.
import * as z from 'zod'
import { overlayConfigSchema } from './overlay-config.ts'

export const jsonSchemas = { OverlayConfig: () => z.toJSONSchema(overlayConfigSchema) }
