// Limits the work of operators' rules for one request, in steps of about 25 ns: less than a ms in total.

/** For all rules of the file, and all that the API has set for a zone. */
export const maxWork = {
  /** Access rules, rate limits and rewrites. */
  rules: { file: 14_000, api: 7_000 },
  errors: { file: 4_000, api: 3_000 },
} as const

export class Work {
  left: number
  /** Whether fewer were left than would have been taken. */
  isExceeded = false

  constructor({ file, api }: { readonly file: number; readonly api: number } = maxWork.rules) {
    this.left = file + api
  }

  /** Takes steps that are about to be made; false, and nothing taken, if fewer are left. */
  take(steps: number): boolean {
    if (steps > this.left) {
      this.isExceeded = true
      return false
    }
    this.left -= steps
    return true
  }
}

/**
 * The assumed size of inputs when rules are priced: characters of a path, a query or a value, and of a
 * User-Agent; header names, values of one name.
 */
export const typical = { text: 512, agent: 200, names: 32, values: 4 } as const
