import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storeLocation } from '../../src/process/store-location.ts'
import { edgeConfig } from '../help/edge.ts'

const config = edgeConfig([])

test('the store is where the configuration says', () => {
  const store = { ...config.store, url: 'redis://127.0.0.1' }
  assert.equal(storeLocation({ ...config, store }, { GATEHOUSE_DATA: '/elsewhere' }), 'redis://127.0.0.1')
})

test('without a word of it, the store is a file in the data folder', () => {
  assert.equal(
    storeLocation(config, { GATEHOUSE_DATA: '/var/lib/gatehouse' }),
    'sqlite:/var/lib/gatehouse/gatehouse.db',
  )
  assert.equal(storeLocation(config, { GATEHOUSE_DATA: '' }), 'sqlite:data/gatehouse.db')
  assert.equal(storeLocation(config, {}), 'sqlite:data/gatehouse.db')
})
