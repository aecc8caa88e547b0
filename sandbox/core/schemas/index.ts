import { customFields } from './custom-fields.ts';
import { customObjects } from './custom-objects.ts';
import type { Resource } from './resource.ts';
import { standardResources } from './standard-resources.ts';

/** Every resource that has a collection. */
export const resources: readonly Resource[] = [...standardResources, customFields, customObjects];
