// Digests that cost a test nothing.

import type { Argon2Cost } from '../../src/people/passwords/argon2.ts'

export const cheap: Argon2Cost = { memory: 64, passes: 1, parallelism: 1 }
