// Options that every command takes, before or after its name.
import { flag } from './parameter.ts'

export const everywhere = {
  json: flag('--json', 'print the answer, or the error, as JSON'),
  quiet: flag('-q, --quiet', 'no progress; print only what needs attention'),
  debug: flag('--debug', 'show stack traces'),
}

/** Options that the parser knows by itself; here for help, completion and docs. */
export const helpOption = { help: flag('-h, --help', 'explain a command') }

/** Taken as the first word only, and answered before anything is parsed. */
export const versionOption = { version: flag('-V, --version', 'print the version') }
