"""What agents may call: tool definitions, and the ledger that runs, limits, masks, records and de-duplicates calls."""
