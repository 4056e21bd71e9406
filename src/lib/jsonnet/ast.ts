// What the parser makes of a text. `at` is the offset at which an expression is blamed.

export type Expr =
  | { readonly kind: 'literal'; readonly at: number; readonly value: null | boolean | number | string }
  | { readonly kind: 'variable'; readonly at: number; readonly name: string }
  | { readonly kind: 'self' | 'dollar'; readonly at: number }
  | { readonly kind: 'super'; readonly at: number; readonly key: Expr }
  | { readonly kind: 'in-super'; readonly at: number; readonly key: Expr }
  | { readonly kind: 'array'; readonly at: number; readonly items: readonly Expr[] }
  | ArrayComprehension
  | ObjectLiteral
  | ObjectComprehension
  | { readonly kind: 'index'; readonly at: number; readonly target: Expr; readonly key: Expr }
  | SliceExpr
  | CallExpr
  | FunctionExpr
  | { readonly kind: 'local'; readonly at: number; readonly binds: readonly Bind[]; readonly body: Expr }
  | {
      readonly kind: 'if'
      readonly at: number
      readonly condition: Expr
      readonly yes: Expr
      readonly no: Expr | null
    }
  | { readonly kind: 'error'; readonly at: number; readonly message: Expr }
  | { readonly kind: 'assert'; readonly at: number; readonly assertion: Assertion; readonly rest: Expr }
  | ImportExpr
  | { readonly kind: 'unary'; readonly at: number; readonly operator: UnaryOperator; readonly operand: Expr }
  | BinaryExpr

export interface ArrayComprehension {
  readonly kind: 'array-comprehension'
  readonly at: number
  readonly body: Expr
  readonly clauses: readonly Clause[]
}

export interface ObjectLiteral {
  readonly kind: 'object'
  readonly at: number
  readonly locals: readonly Bind[]
  readonly asserts: readonly Assertion[]
  readonly fields: readonly FieldExpr[]
}

export interface ObjectComprehension {
  readonly kind: 'object-comprehension'
  readonly at: number
  readonly locals: readonly Bind[]
  readonly field: FieldExpr
  readonly clauses: readonly Clause[]
}

/** Bounds that are not written are null. */
export interface SliceExpr {
  readonly kind: 'slice'
  readonly at: number
  readonly target: Expr
  readonly bounds: readonly [Expr | null, Expr | null, Expr | null]
}

export interface CallExpr {
  readonly kind: 'call'
  readonly at: number
  readonly callee: Expr
  readonly positional: readonly Expr[]
  readonly named: readonly { readonly name: string; readonly value: Expr }[]
  readonly tailstrict: boolean
}

export interface FunctionExpr {
  readonly kind: 'function'
  readonly at: number
  readonly name: string
  readonly parameters: readonly ParameterExpr[]
  readonly body: Expr
}

export interface ImportExpr {
  readonly kind: 'import'
  readonly at: number
  readonly how: 'import' | 'importstr' | 'importbin'
  readonly path: string
}

export interface BinaryExpr {
  readonly kind: 'binary'
  readonly at: number
  readonly operator: BinaryOperator
  readonly left: Expr
  readonly right: Expr
}

export interface ParameterExpr {
  readonly name: string
  readonly fallback: Expr | null
}

export interface Bind {
  readonly name: string
  readonly at: number
  readonly value: Expr
}

export interface Assertion {
  readonly at: number
  readonly condition: Expr
  readonly message: Expr | null
}

/** `inherited` is a single colon: as the field below says, else visible. */
export type Visibility = 'inherited' | 'hidden' | 'visible'

export interface FieldExpr {
  readonly at: number
  readonly name: Expr
  /** A name in brackets is computed outside the object, and null leaves the field out. */
  readonly computed: boolean
  readonly visibility: Visibility
  readonly extends: boolean
  readonly value: Expr
}

export type Clause =
  | { readonly kind: 'for'; readonly at: number; readonly name: string; readonly items: Expr }
  | { readonly kind: 'if'; readonly at: number; readonly condition: Expr }

export type UnaryOperator = '-' | '+' | '!' | '~'

/** Tighter first. */
export const precedences = [
  ['*', '/', '%'],
  ['+', '-'],
  ['<<', '>>'],
  ['<', '>', '<=', '>=', 'in'],
  ['==', '!='],
  ['&'],
  ['^'],
  ['|'],
  ['&&'],
  ['||'],
] as const

export type BinaryOperator = (typeof precedences)[number][number]
