import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storeLocation } from '../../../src/process/store/location.ts'
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
