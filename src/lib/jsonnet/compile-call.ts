// Calls. With tailstrict the arguments are evaluated first, and in the last place of a body the call takes over its caller's place.
import type { CallExpr, Expr } from './ast.ts'
import { type Arguments, callFunction, tailCall } from './call.ts'
import type { Compiler } from './compile.ts'
import type { Scope } from './scope.ts'
import { type Code, type Frame, force } from './value.ts'

export function compileCall(c: Compiler, call: CallExpr, scope: Scope, last?: 'last'): Code {
  const { machine } = c
  const callee = c.compile(call.callee, scope)
  const argumentsOf = compileArguments(c, call, scope)
  const site = c.site(call.at, nameOf(call.callee))
  if (!call.tailstrict) return frame => callFunction(machine, callee(frame), argumentsOf(frame), site)
  const strictly = (frame: Frame): Arguments => {
    const { positional, named } = argumentsOf(frame)
    return {
      positional: positional.map(value => force(value, machine)),
      named: named.map(([name, value]) => [name, force(value, machine)]),
    }
  }
  if (last) return frame => tailCall(callee(frame), strictly(frame), site)
  return frame => callFunction(machine, callee(frame), strictly(frame), site)
}

function compileArguments(c: Compiler, call: CallExpr, scope: Scope): (frame: Frame) => Arguments {
  const positional = call.positional.map(value => c.lazy(value, scope))
  const named = call.named.map(({ name, value }) => [name, c.lazy(value, scope)] as const)
  return frame => ({
    positional: positional.map(value => value(frame)),
    named: named.map(([name, value]) => [name, value(frame)] as const),
  })
}

function nameOf(callee: Expr): string {
  if (callee.kind === 'variable') return callee.name
  if ((callee.kind === 'index' || callee.kind === 'super') && callee.key.kind === 'literal')
    return String(callee.key.value)
  return 'a function'
}
