/* The service of the gSOAP peer, for soapcpp2: one one-way operation, and one with a response.

   The build puts one #import of wsrm.h (RM 1.1) or wsrm5.h (RM 1.0) before this file.  */

//gsoap ns service name: notes
//gsoap ns service namespace: urn:reliquary:notes
//gsoap ns schema namespace: urn:reliquary:notes

//gsoap ns service method-action: note urn:reliquary:notes/note
int ns__note(char *text, void);

//gsoap ns service method-action: askResponse urn:reliquary:notes/askResponse
int ns__askResponse(char *answer, void);

//gsoap ns service method-action: ask urn:reliquary:notes/ask
//gsoap ns service method-output-action: ask urn:reliquary:notes/askResponse
int ns__ask(char *text, struct ns__askResponse *);
