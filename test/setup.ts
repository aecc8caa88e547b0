import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// n8n-core writes into the user's home unless told otherwise, and reads this when it loads.
process.env.N8N_USER_FOLDER ??= mkdtempSync(join(tmpdir(), 'crm-platform-n8n-'));
process.env.N8N_ENCRYPTION_KEY ??= 'tests';
