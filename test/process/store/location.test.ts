import assert from 'node:assert/strict'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { dataFolder, NoDataFolder, storeLocation } from '../../../src/process/store/location.ts'
import { edgeConfig } from '../../help/edge.ts'

const { store, ...rest } = edgeConfig([])
const at = (url: string | null) => ({ ...rest, store: { ...store, url } })

test('the store is where the configuration says', () => {
  assert.equal(storeLocation(at('redis://127.0.0.1'), { GATEHOUSE_DATA: '/elsewhere' }), 'redis://127.0.0.1')
})

test('without a word of it, the store is a file in the data folder', () => {
  assert.equal(
    storeLocation(at(null), { GATEHOUSE_DATA: '/var/lib/gatehouse' }),
    'sqlite:/var/lib/gatehouse/gatehouse.db',
  )
  assert.equal(storeLocation(at(null), { GATEHOUSE_DATA: '' }), 'sqlite:data/gatehouse.db')
  assert.equal(storeLocation(at(null), {}), 'sqlite:data/gatehouse.db')
})

test('an installed package keeps its data with those of its user', () => {
  const installed = '/usr/lib/node_modules/gatehouse/main.js'
  const home = join(homedir(), '.local/share/gatehouse')
  assert.equal(dataFolder({}, installed), home)
  assert.equal(dataFolder({ XDG_DATA_HOME: '/srv/data' }, installed), '/srv/data/gatehouse')
  assert.equal(dataFolder({ XDG_DATA_HOME: 'relative' }, installed), home)
  assert.equal(dataFolder({ GATEHOUSE_DATA: 'here', XDG_DATA_HOME: '/srv/data' }, installed), 'here')
})

test('an installed package invents no data folder for a user without a home', t => {
  const { HOME } = process.env
  t.after(() => {
    process.env.HOME = HOME
  })
  process.env.HOME = ''
  const installed = '/usr/lib/node_modules/gatehouse/main.js'
  assert.throws(() => dataFolder({}, installed), NoDataFolder)
  assert.equal(dataFolder({ XDG_DATA_HOME: '/srv/data' }, installed), '/srv/data/gatehouse')
  assert.equal(dataFolder({ GATEHOUSE_DATA: '/data' }, installed), '/data')
})
