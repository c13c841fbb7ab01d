// What clients did to records, and what came of it: the evidence that the checker reads.

interface Timed {
  /** The record: each is a history of its own. */
  readonly key: string
  readonly client: string
  /** Ms of one monotonic clock. */
  readonly began: number
  /** Infinity where nobody knows whether it was done, or when. */
  readonly ended: number
}

/** Sets the record to a value; null removes it. `expected` is the value that it was conditional on; undefined for none. */
export interface Write extends Timed {
  readonly kind: 'write'
  readonly value: string | null
  readonly expected?: string | undefined
}

export interface Read extends Timed {
  readonly kind: 'read'
  readonly value: string | null
  /** Made when all faults had been mended. */
  readonly isFinal?: boolean
}

/** Shows a token to the edge. */
export interface Use extends Timed {
  readonly kind: 'use'
  readonly isAccepted: boolean
}

export type Operation = Write | Read | Use

export interface Span {
  readonly began: number
  readonly ended: number
}

/** Writes operations down, and says how long it has gone on. */
export class History {
  readonly operations: Operation[] = []
  /** When something was broken, until it was mended. */
  readonly faults: (Span & { readonly name: string })[] = []
  /** When a gateway took long to say that it lives. */
  readonly pauses: Span[] = []
  /** Attempts that changed nothing and told nothing. */
  failed = 0
  /** Responses to AI calls. */
  calls = 0
  readonly #origin = performance.now()

  now(): number {
    return performance.now() - this.#origin
  }

  add(operation: Operation): void {
    this.operations.push(operation)
  }
}

export function lineOf(operation: Operation): string {
  const { client, began, ended } = operation
  const span = `${began.toFixed(0)}–${ended === Infinity ? '?' : ended.toFixed(0)} ms`
  return `${span}  ${client}  ${deedOf(operation)}`
}

function deedOf(operation: Operation): string {
  if (operation.kind === 'read') return `read ${operation.value}${operation.isFinal ? ' at the end' : ''}`
  if (operation.kind === 'use') return operation.isAccepted ? 'accepted' : 'refused'
  const { expected, value } = operation
  return `${value === null ? 'remove' : `write ${value}`}${expected === undefined ? '' : ` if ${expected}`}`
}
