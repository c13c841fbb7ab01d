// `gatehouse store accept`: has the gateway of this machine trust its store as it is, whatever was seen there before.

import { loadConfig } from '../../config/file/load.ts'
import type { Mark } from '../../store/mark.ts'
import type { Store } from '../../store/store.ts'
import { configPath, type Input } from './input.ts'
import { isUsable } from './mistakes.ts'
import { storeDialling, storeLocation } from '../store/location.ts'
import { memoryPath, readMemory, type Remembered, writeMemory } from '../store/store-memory.ts'
import { print, tell } from './terminal.ts'
import { withStore } from '../store/with-store.ts'

/** Prints what was remembered and what is found, and then remembers that; returns 1 when the store cannot be read, 2 for a configuration with mistakes. */
export async function storeAccept(input: Input): Promise<number> {
  const path = configPath(input)
  const loaded = loadConfig(path)
  if (!isUsable(path, loaded)) return 2
  const { config } = loaded
  return withStore(storeLocation(config), accept, storeDialling(config))
}

async function accept(store: Store): Promise<number> {
  const { location } = store
  const path = memoryPath(location)
  if (path === null) {
    tell('gatehouse: a store in memory has nothing to accept')
    return 1
  }
  print(`Remembered: ${await remembered(path)}\n`)
  const found = await store.mark()
  const { length: accounts } = await store.accounts.list()
  const holds = `${accounts === 0 ? 'no account' : accounts === 1 ? '1 account' : `${accounts} accounts`}`
  print(
    `Found:      ${found?.identity ? inWords({ ...found, location }) : `${location}, new`}, with ${holds}\n`,
  )
  const mark = await store.adopt()
  await writeMemory(path, { ...mark, location })
  print(`Accepted. A running gateway goes on with the store as it is within seconds.\n`)
  if (accounts === 0) print('The store holds no account: the next start makes one, with a token.\n')
  return 0
}

async function remembered(path: string): Promise<string> {
  try {
    const memory = await readMemory(path)
    return memory === null ? 'nothing' : inWords(memory)
  } catch (cause) {
    return (cause as Error).message
  }
}

function inWords({ location, identity, generation }: Mark & Pick<Remembered, 'location'>): string {
  return `${location}, store ${identity!.slice(0, 8)} at generation ${generation}`
}
