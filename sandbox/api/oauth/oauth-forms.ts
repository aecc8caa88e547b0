import { z } from 'zod/v4';
import { defaultScopes } from '../../domain/access/scopes.ts';
import { describedText } from '../../core/schemas/fields.ts';
import { jsonSchema } from '../../core/schemas/json-schema.ts';
import { challengePattern, grantTypes } from './token-exchange.ts';

const optionalInput = (description: string) => describedText(description).optional();

/** The query of an authorization request (RFC 6749, 4.1.1; RFC 7636, 4.3). */
export const authorizationQuery = z.object({
	response_type: z.enum(['code']).meta({ description: 'The kind of response.' }),
	client_id: describedText('The client that requests access.'),
	redirect_uri: z.string().meta({
		description: 'One of the redirect addresses registered for the client, exactly as registered.',
		format: 'uri',
	}),
	scope: z.string().default(defaultScopes.join(' ')).meta({
		description: 'The requested scopes, separated by spaces; by default all scopes to read.',
	}),
	state: optionalInput('Returned unchanged with the response.'),
	code_challenge: z.string().regex(challengePattern).meta({
		description: 'SHA-256 of the code verifier, in base64url (RFC 7636).',
	}),
	code_challenge_method: z.enum(['S256']).meta({ description: 'The method of the challenge.' }),
});

/** A form-urlencoded body. */
function formBody(form: z.ZodObject, example: object) {
	const schema = jsonSchema(form, 'input');
	return { required: true, content: { 'application/x-www-form-urlencoded': { schema, example } } };
}

/** The decision of the consent page. */
export const decisionForm = formBody(
	z.object({
		decision: z.enum(['allow', 'deny']).meta({ description: 'The decision of the user.' }),
	}),
	{ decision: 'allow' },
);

const clientInputs = {
	client_id: optionalInput('The client ID, unless HTTP Basic carries it.'),
	client_secret: optionalInput('The secret of a confidential client, unless HTTP Basic carries it.'),
};

/** A request to the token endpoint. */
export const tokenForm = formBody(
	z.object({
		grant_type: z.enum([...grantTypes.keys()]).meta({ description: 'The grant type.' }),
		code: optionalInput('With authorization_code: the code; valid for one minute.'),
		redirect_uri: optionalInput('With authorization_code: the address the code was sent to.'),
		code_verifier: optionalInput('With authorization_code: the verifier that the challenge was derived from.'),
		refresh_token: optionalInput('With refresh_token: the latest refresh token.'),
		scope: optionalInput('With refresh_token: a subset of the scopes that the user has granted.'),
		...clientInputs,
	}),
	{ grant_type: 'refresh_token', refresh_token: 'crm_refresh_5f1c', client_id: 'cli_01jz8q' },
);

/** A request to the revocation endpoint. */
export const revocationForm = formBody(
	z.object({ token: describedText('Either kind of token.'), token_type_hint: optionalInput('Ignored.'), ...clientInputs }),
	{ token: 'crm_refresh_5f1c', client_id: 'cli_01jz8q' },
);
