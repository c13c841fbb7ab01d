// `gatehouse store copy`: everything from one store into an empty one, to move from a file to Redis or back.

import { readFileSync } from 'node:fs'
import type { Reading } from '../../base/quantity.ts'
import { resolveReferences } from '../../config/references.ts'
import { accept } from '../../config/rules.ts'
import { storeUrl } from '../../config/store-url.ts'
import { copyStore, inWords } from '../../store/copy.ts'
import type { Store } from '../../store/store.ts'
import type { Input } from '../input.ts'
import { tell } from '../terminal.ts'
import { withStore } from '../with-store.ts'

/** Returns 0 when all was copied, 1 when a store refuses, 2 for mistakes of the caller. */
export async function store({ args: [verb], from, to }: Input): Promise<number> {
  if (verb !== 'copy' || from === undefined || to === undefined)
    return complain('usage: gatehouse store copy --from URL --to URL')
  const [source, target] = [resolve(from), resolve(to)]
  if ('flaw' in source) return complain(`--from ${source.flaw}`)
  if ('flaw' in target) return complain(`--to ${target.flaw}`)
  return withStore(source.value, here => withStore(target.value, there => copy(here, there)), {
    mustExist: true,
  })
}

/** Takes what the configuration takes, so that a password need not stand where every user of the machine can read it. */
function resolve(written: string): Reading<string> {
  const text = resolveReferences(written, { env: process.env, readFile: path => readFileSync(path, 'utf8') })
  if ('flaw' in text) return text
  const read = storeUrl(text.value)
  return 'flaw' in read ? read : accept(read.value ?? undefined, 'must not be empty')
}

function complain(sentence: string): number {
  tell(`gatehouse: ${sentence}`)
  return 2
}

async function copy(source: Store, target: Store): Promise<number> {
  const copied = await copyStore(source, target)
  tell(`Copied ${inWords(copied)} from ${source.location} to ${target.location}.`)
  return 0
}
