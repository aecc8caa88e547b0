import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod/v4';
import { Failure } from '../tools/failure.mjs';

const State = z.object({
	/** The password of the owner's account in n8n. */
	password: z.string(),
	/** The key with which n8n encrypts credentials; it cannot read them with another one. */
	encryptionKey: z.string(),
	/** The sandbox's API key. */
	apiKey: z.string(),
	n8nPort: z.number(),
	sandboxPort: z.number(),
	/** The sandbox's address in n8n's credentials. */
	sandboxUrl: z.string().optional(),
	/** The credential for the sandbox in n8n. */
	credentialId: z.string().optional(),
	/** The credential in n8n that a user connects by signing in to the sandbox. */
	oauth2CredentialId: z.string().optional(),
	/** File names of the examples that were imported, including those the user has deleted since. */
	importedExamples: z.array(z.string()),
});

/** The state that the demo stores from one start to the next. */
export type State = z.infer<typeof State>;

/**
 * Reads the state of an earlier start, or creates the state of a first start.
 *
 * @throws {Failure} if the file is damaged
 */
export function readState(file: string): State {
	if (!existsSync(file)) return newState();
	try {
		return State.parse(JSON.parse(readFileSync(file, 'utf8')));
	} catch {
		throw new Failure(`${file} is damaged. Start over with: npm start -- --fresh`);
	}
}

/** Saves the state for the next start; after a crash meanwhile, the old state remains. */
export function writeState(file: string, state: State): void {
	mkdirSync(dirname(file), { recursive: true });
	writeFileSync(`${file}.new`, JSON.stringify(state, undefined, 2), { mode: 0o600 });
	renameSync(`${file}.new`, file);
}

function newState(): State {
	return {
		// n8n requires a capital letter and a digit.
		password: `Demo-1${randomBytes(4).toString('hex')}`,
		encryptionKey: randomBytes(24).toString('base64'),
		apiKey: `demo_${randomBytes(12).toString('hex')}`,
		n8nPort: 5678,
		sandboxPort: 4010,
		importedExamples: [],
	};
}
