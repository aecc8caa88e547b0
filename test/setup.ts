import { join } from 'node:path';

// n8n-core writes into the user's home unless told otherwise, and reads this when it loads.
process.env.N8N_USER_FOLDER ??= join(process.cwd(), '.tmp', 'n8n-core');
process.env.N8N_ENCRYPTION_KEY ??= 'tests';
process.env.N8N_LOG_LEVEL ??= 'silent';
