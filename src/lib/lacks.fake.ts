// Tests that need a program skip where it is missing; with CAIRN_REQUIRE=all, as in CI, they run all the same, and fail.
import { findProgram } from './run.ts'

export const lacks = (program: string): boolean => process.env.CAIRN_REQUIRE !== 'all' && !findProgram(program)
