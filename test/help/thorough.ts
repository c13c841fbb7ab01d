// How much a test tries that could try far more: `npm test` what soon shows a fault, and THOROUGH=1 all there is reason to try.

export const isThorough = process.env.THOROUGH === '1'

/** Returns the first where THOROUGH=1 asks for it, and the second otherwise. */
export function thorough<T>(all: T, some: T): T {
  return isThorough ? all : some
}
