// Rules of our own code that production survives if they are broken: ignored there, and an error in tests.

/** Tests replace it with a function that throws. */
export const invariants: { violated: (what: string) => void } = { violated: () => {} }
