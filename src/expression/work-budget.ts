// How much of a turn the rules of operators may take for one request, whatever it is: counted in steps of some 25 ns, so that all of it is less than a
// millisecond. What is looked at as long as it is short is priced when rules are loaded, what clients can make long is counted at each request.

/** The most steps of a request for what all rules say: those of the file that it can meet, and those that the API has set for its zone. */
export const mostWork = {
  /** Access rules, rate limits and rewrites. */
  rules: { file: 14_000, api: 7_000 },
  /** Error rules. */
  errors: { file: 4_000, api: 3_000 },
} as const

/** Counts what is left of the steps of one request. */
export class Work {
  left: number

  constructor({ file, api }: { readonly file: number; readonly api: number } = mostWork.rules) {
    this.left = file + api
  }

  /** Takes steps that are about to be made; false, and nothing taken, when these are more than what is left. */
  take(steps: number): boolean {
    if (steps > this.left) return false
    this.left -= steps
    return true
  }
}

/**
 * How long what rules look at is when they are priced: a longer one is looked at too, as long as steps are left. Characters of a path, a query or a value, and of
 * a User-Agent; header names, values of one name.
 */
export const usual = { text: 512, agent: 200, names: 32, values: 4 } as const
