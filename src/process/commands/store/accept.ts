// `gatehouse store accept`: makes the gateway of this machine trust its store as it is.

import type { SecretKeys } from '../../../base/secrets/secret-keys.ts'
import { loadConfig } from '../../../config/load/load.ts'
import { isMoved, type Mark, originalIdentity, type Seen } from '../../../store/contract/mark.ts'
import { keyNoteOf, writeKeyNote } from '../../../store/contract/key-note.ts'
import type { Store } from '../../../store/contract/store.ts'
import { configPath, type Input } from '../input.ts'
import { isUsable } from '../../terminal/config-mistakes.ts'
import { dataFolder, storeDialling, storeLocation } from '../../store/location.ts'
import { findSecretKeys } from '../../store/secret-keys-file.ts'
import { memoryPath, readMemory, type Remembered, writeMemory } from '../../store/store-memory.ts'
import { json } from '../../terminal/format.ts'
import { print, refuse } from '../../terminal/output.ts'
import { withStore } from '../../store/with-store.ts'

export async function storeAccept(input: Input): Promise<number> {
  const path = configPath(input)
  const loaded = loadConfig(path)
  if (!isUsable(path, loaded)) return 2
  const { config } = loaded
  const accepting = async (store: Store) =>
    accept(store, await findSecretKeys(config.secrets, dataFolder()), input.json)
  return withStore(storeLocation(config), accepting, { ...storeDialling(config), isAnyMark: true })
}

const accepted = 'Accepted. A running gateway goes on with the store as it is within seconds.\n'

const nothingToAccept =
  'There was nothing to accept: this machine remembered no store. From now on it expects this one.\n'

async function accept(store: Store, keys: SecretKeys | null, asJson = false): Promise<number> {
  const say = asJson ? () => {} : print
  const { location } = store
  const path = memoryPath(location)
  if (path === null) return refuse('a store in memory has nothing to accept')
  const before = await remembered(path)
  say(`Remembered: ${before === null ? 'nothing' : typeof before === 'string' ? before : inWords(before)}\n`)
  const currentMark = await store.mark()
  const { length: accounts } = await store.accounts.list()
  const holds = `${accounts === 0 ? 'no account' : accounts === 1 ? '1 account' : `${accounts} accounts`}`
  say(
    `Found:      ${currentMark?.identity ? inWords({ ...currentMark, location }) : `${location}, new`}, with ${holds}\n`,
  )
  const replaced = keys === null ? null : await acceptKey(store, keys, say)
  const mark = await adopted(store)
  await writeMemory(path, { ...mark, location })
  const isAccepted = before !== null || replaced !== null
  say(isAccepted ? accepted : nothingToAccept)
  if (replaced !== null) say(keyWords(replaced))
  if (accounts === 0) say('The store holds no account: the next start makes one, with a token.\n')
  if (asJson)
    print(
      json({
        accepted: isAccepted,
        remembered: typeof before === 'object' ? before && view(before) : null,
        found: currentMark?.identity ? view({ ...currentMark, location }) : null,
        accounts,
        replaced_key: replaced,
      }),
    )
  return 0
}

type Place = Mark & Pick<Remembered, 'location'>

function view({ location, identity, generation }: Place) {
  return { location, id: shortIdOf(identity!), generation, moved: isMoved({ identity }) }
}

/** Returns the mark of the store: a new one, from now on, if it was moved. */
async function adopted(store: Store): Promise<Seen> {
  const mark = await store.adopt()
  if (!isMoved(mark)) return mark
  const own = { ...mark, identity: originalIdentity(mark.identity) }
  await store.continueAs(own)
  return own
}

/** Records the key of this machine if it lacks the one that the store names, which it returns. */
async function acceptKey(
  { notes }: Store,
  keys: SecretKeys,
  say: (text: string) => void,
): Promise<string | null> {
  const note = await keyNoteOf(notes)
  if (note === null || keys.knows(note.record.value)) return null
  const { value } = note.record
  say(`Key:        ${value} of the store, ${keys.currentId} of this machine\n`)
  if (!(await writeKeyNote(notes, note, keys.currentId, Date.now())))
    throw new Error('the key of the store was changed at the same time: run the same command again')
  return value
}

function keyWords(replaced: string): string {
  return `What was made under the key ${replaced} is no longer valid: rotate the client secrets, and have people with an authenticator app sign in with recovery codes, or create links for them with \`gatehouse user invite\`. A machine that still has ${replaced} is degraded until it gets the key of this one.\n`
}

/** Returns null if this machine remembers nothing; a sentence if that cannot be read. */
async function remembered(path: string): Promise<Remembered | string | null> {
  try {
    return await readMemory(path)
  } catch (cause) {
    return (cause as Error).message
  }
}

function inWords({ location, identity, generation }: Place): string {
  const moved = isMoved({ identity }) ? ', moved to another store' : ''
  return `${location}, store ${shortIdOf(identity!)} at generation ${generation}${moved}`
}

function shortIdOf(identity: string): string {
  return originalIdentity(identity).slice(0, 8)
}
