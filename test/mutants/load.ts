// Loads one file with a mutation in it: MUTATION names the file and the edit, in all processes and threads of a test.

import { registerHooks } from 'node:module'
import { type Mutation, mutate } from './operators.ts'

export interface MutatedFile {
  readonly url: string
  readonly mutation: Mutation
}

const { url: mutated, mutation } = JSON.parse(process.env.MUTATION!) as MutatedFile

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    if (url !== mutated) return loaded
    return { ...loaded, source: mutate(Buffer.from(loaded.source as Uint8Array).toString(), mutation) }
  },
})
