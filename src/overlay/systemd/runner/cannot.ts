// What a unit asks for and the runner does not have. The message goes on from "the runner cannot": 'run timers'.

export class Cannot extends Error {
  constructor(what: string) {
    super(what)
    this.name = 'Cannot'
  }
}

export const refusal = ({ message }: Cannot): string => `the runner cannot ${message}`
