# What is known about models goes to the package's data, where libgantry finds it relative to its own
# file: in ../share/gantry. The build folder has that too, so that an uninstalled library, whose file
# is in .libs/, finds the source's.
gpudatadir = $(pkgdatadir)/gpu.d
dist_gpudata_DATA = conf/gpu.d/00-about.ini conf/gpu.d/nvidia-geforce-rtx-4060-laptop.ini \
	conf/gpu.d/nvidia-h200.ini

noinst_DATA += share/gantry/gpu.d
share/gantry/gpu.d:
	@$(MKDIR_P) share/gantry
	$(AM_V_GEN)$(LN_S) -f "$(abs_top_srcdir)/conf/gpu.d" share/gantry/gpu.d

clean-local: clean-share
clean-share:
	rm -f share/gantry/gpu.d
	-test ! -d share/gantry || rmdir share/gantry share
.PHONY: clean-share

EXTRA_DIST += conf/gantry.ini conf/README.md

# The tables of keys in documents are made from the library's, and are part of the source tree: a build
# needs nothing, and a test says when they are old.
check_PROGRAMS += conf/reference
conf_reference_SOURCES = conf/reference.c
conf_reference_LDADD = libgantry_core.la
REFERENCES = conf/README.md tools/gantry.1

.PHONY: conf-reference
conf-reference: conf/reference$(EXEEXT)
	@for file in $(REFERENCES); do \
		conf/reference $(srcdir)/$$file >conf/reference.tmp || exit 1; \
		cmp -s conf/reference.tmp $(srcdir)/$$file || cp conf/reference.tmp $(srcdir)/$$file || exit 1; \
	done; rm -f conf/reference.tmp

# The machine's file belongs to whoever edits it: a second installation leaves it as it is, and only
# an untouched one is removed.
gantryconfdir = $(sysconfdir)/gantry
CONF_INSTALLED = $(DESTDIR)$(gantryconfdir)/gantry.ini

install-data-local: install-gantry-conf
install-gantry-conf:
	@$(MKDIR_P) "$(DESTDIR)$(gantryconfdir)"
	@test -e "$(CONF_INSTALLED)" || $(INSTALL_DATA) $(srcdir)/conf/gantry.ini "$(CONF_INSTALLED)"

uninstall-local: uninstall-gantry-conf
uninstall-gantry-conf:
	@if cmp -s $(srcdir)/conf/gantry.ini "$(CONF_INSTALLED)"; then rm -f "$(CONF_INSTALLED)"; fi

.PHONY: install-gantry-conf uninstall-gantry-conf
