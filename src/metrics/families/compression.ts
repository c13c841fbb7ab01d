// Prometheus metrics of response compression.

import { byName, type Families, sample } from './family.ts'

export const compressionFamilies: Families = {
  gatehouse_compressed_responses_total: {
    help: 'Responses compressed, by encoding.',
    read: ({ edge }) => byName(edge.compression.responses, encoding => ({ encoding })),
  },
  gatehouse_compression_input_bytes_total: {
    help: 'Bytes of response bodies before their compression, by encoding.',
    read: ({ edge }) => byName(edge.compression.bytesIn, encoding => ({ encoding })),
  },
  gatehouse_compression_output_bytes_total: {
    help: 'Bytes of response bodies after their compression, by encoding.',
    read: ({ edge }) => byName(edge.compression.bytesOut, encoding => ({ encoding })),
  },
  gatehouse_compression_skipped_total: {
    help: 'Responses not compressed because encoders already had the memory of limits.compression_memory.',
    read: ({ edge }) => [sample(edge.compression.skipped)],
  },
  gatehouse_compression_memory_bytes: {
    help: 'Memory reserved for the encoders under way.',
    read: ({ edge }) => [sample(edge.compression.memory)],
  },
}
