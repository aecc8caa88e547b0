import { companies } from './companies.ts';
import { contacts } from './contacts.ts';
import { customFields } from './custom-fields.ts';
import type { Resource } from './resource.ts';

/** Everything the service has a collection of. */
export const resources: readonly Resource[] = [contacts, companies, customFields];
